import IoTCore
import NIOCore
import PeerTransport

/// One side of an open data channel `iotlink.data` or `iotlink.file`: sends frames as its flow allows, and passes on those that come.
/// Confined to the event loop of its connection.
final class DataLine {
    /// The label of the data channel, which the caller opens when it first needs it.
    static let label = "iotlink.data"

    private struct Waiting {
        let promise: EventLoopPromise<Void>
        let timeout: Scheduled<Void>
    }

    let id: DataChannelID
    private let eventLoop: any EventLoop
    private weak var transport: (any ControlTransport)?
    private let onFrame: (DataFrame) -> Void
    private let onEnd: (IoTError) -> Void
    private var flow = DataFlow()
    private var waiting: [DataFlow.Ticket: Waiting] = [:]
    private var nextTicket: DataFlow.Ticket = 1
    private var isPumping = false
    private var hasEnded = false

    /// - Parameters:
    ///   - onFrame: called for each frame that comes; `processed` must be called with its cost.
    ///   - onEnd: called once, if the channel ends by itself.
    init(
        _ id: DataChannelID, of transport: any ControlTransport, on eventLoop: any EventLoop,
        onFrame: @escaping (DataFrame) -> Void, onEnd: @escaping (IoTError) -> Void
    ) {
        self.id = id
        self.transport = transport
        self.eventLoop = eventLoop
        self.onFrame = onFrame
        self.onEnd = onEnd
    }

    /// Sends a frame; completes when the connection has taken it.
    ///
    /// - Parameter patience: how long the other side may have to make room.
    func send(_ frame: DataFrame, patience: TimeAmount) -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        let ticket = nextTicket
        nextTicket += 1
        do throws(IoTError) {
            guard !hasEnded else { throw IoTError(.channelDisconnected) }
            try flow.send(frame, ticket: ticket)
        } catch {
            promise.fail(error)
            return promise.futureResult
        }
        let timeout = eventLoop.assumeIsolated().scheduleTask(in: patience) { [weak self] in
            guard let self else { return }
            giveUp(ticket)
        }
        waiting[ticket] = Waiting(promise: promise, timeout: timeout)
        pump()
        return promise.futureResult
    }

    private func giveUp(_ ticket: DataFlow.Ticket) {
        guard let sender = waiting.removeValue(forKey: ticket) else { return }
        _ = flow.withdraw(ticket)
        sender.promise.fail(
            IoTError(
                .messageTimeout, "the other side takes no more data",
                remedy: "check the program that reads them, then send again"))
    }

    /// Sends a frame for which nobody waits.
    func post(_ frame: DataFrame) {
        guard !hasEnded else { return }
        do throws(IoTError) {
            try flow.send(frame, ticket: nil)
        } catch {
            return fail(error)
        }
        pump()
    }

    /// Tells the other side whether anybody takes what it sends.
    func tell(isListening: Bool) {
        guard !hasEnded else { return }
        flow.sendUrgently(.listening(isListening))
        pump()
    }

    /// A frame with this cost has been processed, so another may come.
    func processed(_ cost: Int) {
        guard !hasEnded, cost > 0 else { return }
        flow.processed(cost)
        pump()
    }

    func receive(_ message: DataChannelMessage) {
        guard !hasEnded else { return }
        do throws(IoTError) {
            guard case .binary(let bytes) = message else {
                throw IoTError(.invalidRequest, "a text message on a channel for data")
            }
            if let frame = try flow.receive(bytes) { onFrame(frame) }
        } catch {
            return fail(error)
        }
        // Its credit may let us send.
        pump()
    }

    /// - Parameter isLeaving: whether the other side is told by the end of the channel.
    func end(_ reason: IoTError, isLeaving: Bool = true) {
        guard !hasEnded else { return }
        hasEnded = true
        if isLeaving { transport?.closeDataChannel(id) }
        let senders = waiting
        waiting = [:]
        for ticket in senders.keys.sorted() {
            senders[ticket]?.timeout.cancel()
            senders[ticket]?.promise.fail(reason)
        }
    }

    private func fail(_ reason: IoTError) {
        guard !hasEnded else { return }
        end(reason)
        onEnd(reason)
    }

    private func pump() {
        // What a completed sender sends next goes out in its turn.
        guard !isPumping, let transport else { return }
        isPumping = true
        defer { isPumping = false }
        while !hasEnded, let (ticket, frame) = flow.next() {
            do throws(IoTError) {
                try transport.send(.binary(frame.bytes), on: id)
            } catch {
                return fail(error)
            }
            guard let ticket, let sender = waiting.removeValue(forKey: ticket) else { continue }
            sender.timeout.cancel()
            sender.promise.succeed()
        }
    }
}
