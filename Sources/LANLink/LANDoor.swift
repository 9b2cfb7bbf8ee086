import IoTCore
package import IoTLink
package import Logging
import NIOCore
package import NIOSSL
import Synchronization

/// The devices of a box that are reached over its own network, and the connections to them.
package final class LANDoor: Sendable {
    /// Connections that have begun.
    static let bound = QuotaBound(total: 64, each: 4, reserve: 16)
    /// How long a connection may take to begin.
    private static let beginTime = TimeAmount.seconds(10)
    /// The largest message before the connection has begun.
    static let firstMessageLimit = 8_192

    private struct State {
        var devices: [DeviceID: LANDeviceLink] = [:]
        var quota = Quota<LANVisit.Holder>(LANDoor.bound)
    }

    private let state = Mutex(State())
    let logger: Logger

    package init(logger: Logger) {
        self.logger = logger
    }

    func add(_ link: LANDeviceLink) { state.withLock { $0.devices[link.device] = link } }
    func remove(_ link: LANDeviceLink) {
        state.withLock { state in
            if state.devices[link.device] === link { state.devices[link.device] = nil }
        }
    }

    func link(of device: DeviceID) -> LANDeviceLink? { state.withLock { $0.devices[device] } }

    func enter(_ holder: LANVisit.Holder) throws(IoTError) {
        try state.withLock { state throws(IoTError) in
            do throws(Quota<LANVisit.Holder>.Refusal) {
                try state.quota.take(for: holder)
            } catch {
                throw error.error("connections on the local network", code: .tooManyConnections)
            }
        }
    }

    func leave(_ holder: LANVisit.Holder) { state.withLock { $0.quota.giveBack(holder) } }

    // MARK: Connections

    package func makeContext() throws -> NIOSSLContext {
        try LANTLS.serverContext { [weak self] device in self?.link(of: device)?.key }
    }

    /// Serves a connection until its end.
    ///
    /// - Parameters:
    ///   - key: the one that the gateway has proved.
    ///   - onBegin: called when the device has accepted the gateway's grant.
    package func serve(
        _ client: LANConnection.Client, key: @escaping @Sendable () -> DevicePublicKey?,
        onBegin: @escaping @Sendable () -> Void
    ) async {
        let visit = LANVisit(door: self, connection: LANConnection(client.channel), key: key, onBegin: onBegin)
        let beginning = client.channel.eventLoop.scheduleTask(in: Self.beginTime) {
            if !visit.hasBegun { visit.connection.close(IoTError(.operationTimeout, "the connection did not begin")) }
        }
        try? await client.executeThenClose { inbound, outbound in
            await visit.connection.run(inbound, outbound, limit: { visit.messageLimit }) { request throws(IoTError) in
                try await visit.handle(request)
            }
        }
        beginning.cancel()
        visit.leave()
    }
}
