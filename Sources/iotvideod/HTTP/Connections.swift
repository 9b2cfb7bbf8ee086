import Gateway
import IoTCore
import NIOCore
import Synchronization

/// The open connections of one listener.
final class Connections: Sendable {
    private struct State {
        var table: ConnectionTable<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>

    init(_ bound: QuotaBound) {
        state = Mutex(State(table: ConnectionTable(bound)))
    }

    var count: Int { state.withLock { $0.table.count } }

    /// - Throws: 21020 if there is no room. The caller must then close the connection.
    func admit(_ channel: any Channel) throws(IoTError) {
        let id = ObjectIdentifier(channel)
        let address = RemoteAddress(channel.remoteAddress)
        let (admission, victim) = state.withLock { state in
            let admission = state.table.admit(id, from: address)
            var victim: (any Channel)?
            if case .inPlaceOf(let other) = admission { victim = state.channels.removeValue(forKey: other) }
            if admission != .refused { state.channels[id] = channel }
            return (admission, victim)
        }
        victim?.close(promise: nil)
        guard admission != .refused else { throw IoTError(.tooManyConnections) }
        channel.closeFuture.whenComplete { [weak self] _ in self?.remove(id) }
    }

    /// Called when the caller is known and the request begins.
    func serve(_ channel: any Channel) {
        state.withLock { $0.table.serve(ObjectIdentifier(channel)) }
    }

    /// Called when the response has been written.
    func wait(_ channel: any Channel) {
        state.withLock { $0.table.wait(ObjectIdentifier(channel)) }
    }

    private func remove(_ id: ObjectIdentifier) {
        state.withLock { state in
            state.table.remove(id)
            state.channels[id] = nil
        }
    }
}
