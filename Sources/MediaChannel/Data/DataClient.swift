import IoTCore
import NIOCore
import PeerTransport

/// The caller's side of a call's data: opens the channel when it is first needed, sends messages, asks one request after
/// the other, and passes what comes to those who listen. Confined to the call's event loop.
final class DataClient {
    private enum State {
        case idle
        /// Until the device has said whether anybody listens, which is the first that it sends.
        case opening(DataLine, Scheduled<Void>)
        case open(DataLine)
        case ended(IoTError)
    }

    /// One request, from its place in the queue to its last response.
    private struct Asked {
        let number: UInt32
        let data: ByteBuffer
        let responses: DataResponses
        let queue: DataQueue<ByteBuffer>
        let timeout: Scheduled<Void>
        /// The device may have it.
        var isSent = false
    }

    /// The most requests that wait for their turn, and the most that listen.
    static let maximumWaiting = 32
    static let maximumListeners = 16
    private static let openingTimeout = TimeAmount.seconds(5)

    private let label: String
    private let eventLoop: any EventLoop
    private weak var transport: (any ControlTransport)?
    private var state = State.idle
    /// Those who wait for the channel, in order.
    private var waiting: [(Result<DataLine, IoTError>) -> Void] = []
    private var peerListens = false
    private var listeners: [Int: DataQueue<ByteBuffer>] = [:]
    private var nextListener = 0
    /// The first one is being answered.
    private var asked: [Asked] = []
    private var nextNumber: UInt32 = 1

    /// - Parameter label: of the data channel.
    init(label: String = DataLine.label, eventLoop: any EventLoop) {
        self.label = label
        self.eventLoop = eventLoop
    }

    /// The connection over which the channel is opened.
    func use(_ transport: any ControlTransport) {
        self.transport = transport
    }

    // MARK: Users

    /// Sends a message that needs no response. Completes when the connection has taken it.
    ///
    /// - Parameter patience: how long the device may have to make room.
    func send(_ data: ByteBuffer, patience: TimeAmount) -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        whenOpen { [weak self] result in
            do throws(IoTError) {
                let line = try result.get()
                guard self?.peerListens == true else { throw IoTError(.nobodyListens) }
                line.send(.message(data), patience: patience).cascade(to: promise)
            } catch {
                promise.fail(error)
            }
        }
        return promise.futureResult
    }

    /// Asks the device, when all earlier requests have been answered. Returns the responses in order.
    ///
    /// - Parameter timeout: for the request's turn and all its responses.
    /// - Throws: `dataTooLong`; `tooManyRequests` if 32 requests wait.
    func ask(
        _ data: ByteBuffer, _ responses: DataResponses, timeout: TimeAmount
    ) throws(IoTError) -> DataQueue<ByteBuffer> {
        guard data.readableBytes <= DataFrame.maximumData else { throw DataFrame.tooLong(data.readableBytes) }
        guard asked.count < Self.maximumWaiting else {
            throw IoTError(.tooManyRequests, "\(Self.maximumWaiting) requests of this channel wait for the device")
        }
        let number = nextNumber
        nextNumber &+= 1
        let queue = DataQueue<ByteBuffer>(eventLoop: eventLoop)
        queue.onLeft = { [weak self] in self?.finish(number, .success(())) }
        let timer = eventLoop.assumeIsolated().scheduleTask(in: timeout) { [weak self] in
            guard let self else { return }
            finish(number, .failure(IoTError(.messageTimeout, "the device did not answer in time")))
        }
        asked.append(Asked(number: number, data: data, responses: responses, queue: queue, timeout: timer))
        if asked.count == 1 { askNext() }
        return queue
    }

    /// Returns the messages of the device from now on. Several listeners get the same; the slowest one decides how fast
    /// the device may send.
    func listen() throws(IoTError) -> DataQueue<ByteBuffer> {
        guard listeners.count < Self.maximumListeners else {
            throw IoTError(.tooManyRequests, "\(Self.maximumListeners) readers listen to this channel")
        }
        let queue = DataQueue<ByteBuffer>(eventLoop: eventLoop)
        let id = nextListener
        nextListener += 1
        listeners[id] = queue
        queue.onLeft = { [weak self] in
            guard let self else { return }
            listeners[id] = nil
            if listeners.isEmpty, case .open(let line) = state { line.tell(isListening: false) }
        }
        whenOpen { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let line): line.tell(isListening: !listeners.isEmpty)
            case .failure(let error): listeners.removeValue(forKey: id)?.end(.failure(error))
            }
        }
        return queue
    }

    // MARK: Requests

    private func askNext() {
        guard let first = asked.first, !first.isSent else { return }
        whenOpen { [weak self] result in
            guard let self, asked.first?.number == first.number else { return }
            do throws(IoTError) {
                let line = try result.get()
                guard peerListens else { throw IoTError(.nobodyListens) }
                asked[0].isSent = true
                line.post(.request(number: first.number, responses: first.responses, first.data))
            } catch {
                finish(first.number, .failure(error))
            }
        }
    }

    /// The request has ended, from either side.
    private func finish(_ number: UInt32, _ result: Result<Void, IoTError>, isLast: Bool = false) {
        guard let index = asked.firstIndex(where: { $0.number == number }) else { return }
        let ended = asked.remove(at: index)
        ended.timeout.cancel()
        if ended.isSent, !isLast, case .open(let line) = state { line.post(.finish(number: number)) }
        ended.queue.end(result)
        if index == 0 { askNext() }
    }

    // MARK: The channel

    /// Calls `body` when the channel is open and the device has said whether anybody listens there.
    private func whenOpen(_ body: @escaping (Result<DataLine, IoTError>) -> Void) {
        switch state {
        case .open(let line): return body(.success(line))
        case .ended(let error): return body(.failure(error))
        case .opening: waiting.append(body)
        case .idle:
            waiting.append(body)
            open()
        }
    }

    private func open() {
        do throws(IoTError) {
            guard let transport else { throw IoTError(.channelDisconnected) }
            let channel = try transport.openDataChannel(
                label: label, subprotocol: "", options: DataChannelOptions())
            let timeout = eventLoop.assumeIsolated().scheduleTask(in: Self.openingTimeout) { [weak self] in
                guard let self else { return }
                lost(Self.unsupported)
            }
            let line = DataLine(
                channel.id, of: transport, on: eventLoop, onFrame: { [weak self] in self?.take($0) },
                onEnd: { [weak self] in self?.lost($0) })
            state = .opening(line, timeout)
        } catch {
            lost(error)
        }
    }

    /// Older devices close the channel, and so does every device if the call does not allow data.
    private static var unsupported: IoTError {
        IoTError(
            .actionNotSupported, "the device takes no data in this call",
            remedy: "update the software of the device's box, or ask its owner for the action `control`")
    }

    /// Processes an event of the connection; others than those of the data channel have no effect.
    func handle(_ event: PeerEvent) {
        switch (event, state) {
        case (.dataChannelMessage(let id, let message), .opening(let line, _)) where id == line.id:
            line.receive(message)
        case (.dataChannelMessage(let id, let message), .open(let line)) where id == line.id:
            line.receive(message)
        case (.dataChannelClosed(let id, let error), .opening(let line, _)) where id == line.id:
            lost(error ?? Self.unsupported)
        case (.dataChannelClosed(let id, let error), .open(let line)) where id == line.id:
            lost(error ?? IoTError(.channelDisconnected, "the device closed the channel for data"))
        default: break
        }
    }

    private func take(_ frame: DataFrame) {
        switch frame {
        case .listening(let isListening):
            peerListens = isListening
            guard case .opening(let line, let timeout) = state else { return }
            timeout.cancel()
            state = .open(line)
            let bodies = waiting
            waiting = []
            for body in bodies { body(.success(line)) }
        case .message(let data): deliver(data, frame.cost)
        case .response(let number, let isLast, let data):
            guard let first = asked.first, first.number == number, first.isSent else { return processed(frame.cost) }
            let cost = frame.cost
            first.queue.push(data) { [weak self] in self?.processed(cost) }
            if isLast || first.responses == .one { finish(number, .success(()), isLast: isLast) }
        case .end(let number): finish(number, .success(()), isLast: true)
        case .failure(let number, let code, let text):
            finish(number, .failure(IoTError(code, text.isEmpty ? nil : text)), isLast: true)
        // A device makes no requests of its caller.
        case .request: processed(frame.cost)
        case .finish, .credit: break
        }
    }

    private func deliver(_ data: ByteBuffer, _ cost: Int) {
        var readers = listeners.count
        guard readers > 0 else { return processed(cost) }
        for queue in listeners.values {
            queue.push(data) { [weak self] in
                readers -= 1
                if readers == 0 { self?.processed(cost) }
            }
        }
    }

    private func processed(_ cost: Int) {
        if case .open(let line) = state { line.processed(cost) }
    }

    // MARK: The end

    /// Only the channel has ended, not the connection: the next use opens another.
    private func lost(_ reason: IoTError) { close(reason, next: .idle) }

    /// The connection has ended.
    func end(_ reason: IoTError) { close(reason, next: .ended(reason)) }

    private func close(_ reason: IoTError, next: State) {
        switch state {
        case .opening(let line, let timeout):
            timeout.cancel()
            line.end(reason)
        case .open(let line): line.end(reason)
        case .idle, .ended: break
        }
        state = next
        peerListens = false
        let (bodies, readers, requests) = (waiting, listeners, asked)
        waiting = []
        listeners = [:]
        asked = []
        for body in bodies { body(.failure(reason)) }
        for queue in readers.values { queue.end(.failure(reason)) }
        for request in requests {
            request.timeout.cancel()
            request.queue.end(.failure(reason))
        }
    }
}
