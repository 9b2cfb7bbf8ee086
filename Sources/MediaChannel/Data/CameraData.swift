public import IoTCore
public import IoTLink
public import NIOCore

/// A call whose user sends data to a camera.
public struct DataCall: Sendable, Hashable {
    /// The call's session.
    public var id: String
    public var user: Principal
    public var kind: ChannelKind
}

/// What the program beside a camera gets of the data of the camera's users.
public enum CameraDataEvent: Sendable {
    /// The call may send data from now on.
    case opened(DataCall)
    case message(DataCall, ByteBuffer)
    /// Answer it with `CameraData.respond`, naming the call and the number.
    case request(DataCall, number: UInt32, responses: DataResponses, ByteBuffer)
    /// The user wants no more responses.
    case finished(DataCall, number: UInt32)
    case closed(DataCall)
}

/// The data of a camera's users, and the one program that takes and answers them. A camera has nothing to say itself:
/// without a program, users get `nobodyListens` (25057). Confined to the camera's event loop.
final class CameraData {
    /// The most calls with data at a time.
    static let maximumCalls = 64
    /// The most events without data that may wait for the program; those with data have a bound by each call's window.
    private static let maximumNotices = 4_096

    private let eventLoop: any EventLoop
    private var calls: [String: DataServer] = [:]
    private var program: DataQueue<CameraDataEvent>?

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    var isHeard: Bool { program != nil }

    // MARK: Calls

    /// - Returns: false if there are too many calls.
    func add(_ server: DataServer) -> Bool {
        guard calls.count < Self.maximumCalls, calls[server.call.id] == nil else { return false }
        calls[server.call.id] = server
        return true
    }

    func opened(_ server: DataServer) { push(.opened(server.call)) }

    func message(_ bytes: ByteBuffer, of call: DataCall, onTaken: @escaping () -> Void) {
        push(.message(call, bytes), onTaken)
    }

    func request(
        _ bytes: ByteBuffer, _ number: UInt32, _ responses: DataResponses, of call: DataCall,
        onTaken: @escaping () -> Void
    ) {
        push(.request(call, number: number, responses: responses, bytes), onTaken)
    }

    func finished(_ number: UInt32, of call: DataCall) { push(.finished(call, number: number)) }

    func closed(_ server: DataServer) {
        guard calls[server.call.id] === server else { return }
        calls[server.call.id] = nil
        push(.closed(server.call))
    }

    private func push(_ event: CameraDataEvent, _ onTaken: @escaping () -> Void = {}) {
        guard let program else { return onTaken() }
        program.push(event, onTaken: onTaken)
        guard program.count > Self.maximumNotices else { return }
        leave(.failure(IoTError(.slowReader, "the program did not take the data of the camera's users")))
    }

    // MARK: The program

    /// Takes the data of the camera's users, and at first `opened` for each call that can send some.
    ///
    /// - Throws: `dataTaken` (25058) while another program does.
    func listen() throws(IoTError) -> DataQueue<CameraDataEvent> {
        guard program == nil else { throw IoTError(.dataTaken) }
        let queue = DataQueue<CameraDataEvent>(eventLoop: eventLoop)
        queue.onLeft = { [weak self, weak queue] in
            guard let self, program === queue else { return }
            leave(.success(()))
        }
        program = queue
        for server in servers {
            queue.push(.opened(server.call))
            server.programChanged(isHeard: true)
        }
        return queue
    }

    private var servers: [DataServer] { calls.values.sorted { $0.call.id < $1.call.id } }

    private func leave(_ result: Result<Void, IoTError>) {
        let queue = program
        program = nil
        queue?.end(result)
        for server in servers { server.programChanged(isHeard: false) }
    }

    /// The server of a call.
    func server(_ call: String) throws(IoTError) -> DataServer {
        guard let server = calls[call] else {
            throw IoTError(.notFound, "there is no call \(call.prefix(64)) with data", remedy: "it may have ended")
        }
        return server
    }

    /// Sends a message to all calls at whose other end somebody listens. Returns their number, when all connections have
    /// taken it or failed.
    ///
    /// - Throws: `nobodyListens`; the first call's error if all have failed.
    func sendToAll(_ bytes: ByteBuffer, patience: TimeAmount) throws(IoTError) -> EventLoopFuture<Int> {
        let listening = servers.filter(\.callerListens)
        guard !listening.isEmpty else { throw IoTError(.nobodyListens) }
        guard bytes.readableBytes <= DataFrame.maximumData else { throw DataFrame.tooLong(bytes.readableBytes) }
        let sent = listening.map { $0.send(bytes, patience: patience) }
        return EventLoopFuture.whenAllComplete(sent, on: eventLoop).flatMapThrowing { results in
            let failures = results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
            if failures.count == results.count, let first = failures.first { throw first }
            return results.count - failures.count
        }
    }

    /// The camera is being closed.
    func close() {
        leave(.failure(IoTError(.stopping)))
    }
}
