import IoTCore
import NIOCore
import PeerTransport

/// The device's side of one call's data: passes what the caller sends to the camera's program, and its answers back.
/// Confined to the camera's event loop.
final class DataServer {
    /// The most requests of a call that wait for the program.
    private static let maximumRequests = 32

    let call: DataCall
    private let data: CameraData
    private let eventLoop: any EventLoop
    private weak var transport: (any ControlTransport)?
    private var line: DataLine?
    private var requests: [UInt32: DataResponses] = [:]
    /// Whether somebody listens at the caller's side.
    private(set) var callerListens = false

    init(_ call: DataCall, of data: CameraData, _ transport: any ControlTransport, on eventLoop: any EventLoop) {
        self.call = call
        self.data = data
        self.transport = transport
        self.eventLoop = eventLoop
    }

    /// Processes an event of the connection; others than those of the data channel have no effect.
    func receive(_ event: PeerEvent) {
        switch event {
        case .dataChannelOpened(let opened) where opened.isRemote && opened.label == DataLine.label: open(opened.id)
        case .dataChannelMessage(let id, let message) where id == line?.id: line?.receive(message)
        case .dataChannelClosed(let id, _) where id == line?.id: close(isLeaving: false)
        default: break
        }
    }

    private func open(_ id: DataChannelID) {
        guard let transport, line == nil, data.add(self) else {
            transport?.closeDataChannel(id)
            return
        }
        let line = DataLine(
            id, of: transport, on: eventLoop, onFrame: { [weak self] in self?.take($0) },
            onEnd: { [weak self] _ in self?.close() })
        self.line = line
        line.tell(isListening: data.isHeard)
        data.opened(self)
    }

    private func take(_ frame: DataFrame) {
        let cost = frame.cost
        switch frame {
        case .message(let bytes):
            data.message(bytes, of: call) { [weak self] in self?.line?.processed(cost) }
        case .request(let number, let responses, let bytes):
            guard requests.count < Self.maximumRequests, requests[number] == nil else {
                line?.processed(cost)
                return fail(number, IoTError(.tooManyRequests, "\(Self.maximumRequests) requests wait for the camera"))
            }
            guard data.isHeard else {
                line?.processed(cost)
                return fail(number, IoTError(.nobodyListens))
            }
            requests[number] = responses
            data.request(bytes, number, responses, of: call) { [weak self] in self?.line?.processed(cost) }
        case .finish(let number):
            if requests.removeValue(forKey: number) != nil { data.finished(number, of: call) }
        case .listening(let isListening): callerListens = isListening
        // Only a device answers.
        case .response: line?.processed(cost)
        case .end, .failure, .credit: break
        }
    }

    // MARK: The program

    /// Completes when the connection has taken the message.
    func send(_ bytes: ByteBuffer, patience: TimeAmount) -> EventLoopFuture<Void> {
        guard let line else { return eventLoop.makeFailedFuture(IoTError(.channelDisconnected)) }
        guard callerListens else { return eventLoop.makeFailedFuture(IoTError(.nobodyListens)) }
        return line.send(.message(bytes), patience: patience)
    }

    /// - Parameters:
    ///   - bytes: `nil` ends the request without another response; `isLast` must be true.
    ///   - isLast: whether the request is answered with it. The only response of a request for one always is.
    func respond(
        _ number: UInt32, _ bytes: ByteBuffer?, isLast: Bool, patience: TimeAmount
    ) throws(IoTError) -> EventLoopFuture<Void> {
        guard let line, let responses = requests[number] else { throw Self.unknown(number) }
        let isLast = isLast || responses == .one
        guard let bytes else {
            requests[number] = nil
            line.post(.end(number: number))
            return eventLoop.makeSucceededVoidFuture()
        }
        guard bytes.readableBytes <= DataFrame.maximumData else { throw DataFrame.tooLong(bytes.readableBytes) }
        if isLast { requests[number] = nil }
        return line.send(.response(number: number, isLast: isLast, bytes), patience: patience)
    }

    /// The program cannot answer.
    func refuse(_ number: UInt32, _ error: IoTError) throws(IoTError) {
        guard requests.removeValue(forKey: number) != nil else { throw Self.unknown(number) }
        fail(number, error)
    }

    private func fail(_ number: UInt32, _ error: IoTError) {
        line?.post(.failure(number: number, code: error.code, error.message))
    }

    private static func unknown(_ number: UInt32) -> IoTError {
        IoTError(
            .notFound, "the request \(number) has ended, or never was", remedy: "answer a request before it times out")
    }

    /// The program has come or gone.
    func programChanged(isHeard: Bool) {
        line?.tell(isListening: isHeard)
        guard !isHeard else { return }
        let open = requests.keys.sorted()
        requests = [:]
        for number in open { fail(number, IoTError(.nobodyListens)) }
    }

    // MARK: The end

    func close(isLeaving: Bool = true) {
        guard let line else { return }
        self.line = nil
        requests = [:]
        callerListens = false
        line.end(IoTError(.channelDisconnected, "the call has ended"), isLeaving: isLeaving)
        data.closed(self)
    }
}
