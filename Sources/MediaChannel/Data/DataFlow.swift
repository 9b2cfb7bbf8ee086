import IoTCore
import NIOCore

/// The flow of one side of a data channel: what may be sent now, and what the other side may send. A value without I/O.
///
/// Each side may have sent `window` more than the other has processed. So a receiver holds at most one window, a slow
/// receiver slows its sender down, and the connection's send buffer, which calls share with their control channel, is
/// never filled.
struct DataFlow {
    /// Bytes, counted as `DataFrame.cost`.
    static let window = 256 << 10
    /// The most frames that may wait for the window.
    static let maximumWaiting = 64
    /// Frames without data follow others in order, so they wait, too; a peer that makes us wait with more gets no more.
    private static let maximumUnsent = 256

    /// A frame's sender, which is told when it has been sent.
    typealias Ticket = UInt64

    private var credit = window
    private var peerCredit = window
    /// What was processed and not reported to the peer.
    private var processed = 0
    private var unsent = CircularBuffer<(ticket: Ticket?, frame: DataFrame)>()
    private var urgent = CircularBuffer<DataFrame>()

    /// Adds a frame; the frames with data are sent in the order in which they were added.
    ///
    /// - Throws: `dataTooLong` for more than 64,000 bytes, `tooManyRequests` if 64 frames wait.
    mutating func send(_ frame: DataFrame, ticket: Ticket?) throws(IoTError) {
        guard frame.cost <= DataFrame.maximumData + DataFrame.overhead else {
            throw DataFrame.tooLong(frame.cost - DataFrame.overhead)
        }
        guard unsent.count < (ticket == nil ? Self.maximumUnsent : Self.maximumWaiting) else {
            throw IoTError(.tooManyRequests, "\(Self.maximumWaiting) messages wait for the channel's other side")
        }
        unsent.append((ticket, frame))
    }

    /// Adds a frame that may overtake frames with data.
    mutating func sendUrgently(_ frame: DataFrame) {
        // A newer state replaces one that was not sent.
        if case .listening = frame { urgent.removeAll { if case .listening = $0 { true } else { false } } }
        urgent.append(frame)
    }

    /// Takes a frame back that has not been sent.
    ///
    /// - Returns: false if it has been sent.
    mutating func withdraw(_ ticket: Ticket) -> Bool {
        guard let index = unsent.firstIndex(where: { $0.ticket == ticket }) else { return false }
        unsent.remove(at: index)
        return true
    }

    /// - Returns: `nil` for a frame that concerns only the flow, or has no meaning here.
    /// - Throws: for a frame that the peer must not send; the channel has to be closed.
    mutating func receive(_ bytes: ByteBuffer) throws(IoTError) -> DataFrame? {
        guard let frame = try DataFrame(parsing: bytes) else { return nil }
        if case .credit(let bytes) = frame {
            guard credit + Int(bytes) <= Self.window else {
                throw IoTError(.peerFailed, "the other side has processed more data than it got")
            }
            credit += Int(bytes)
            return nil
        }
        guard frame.cost <= peerCredit else {
            throw IoTError(.peerFailed, "the other side sent more data than it was allowed to")
        }
        peerCredit -= frame.cost
        return frame
    }

    /// Received frames with this cost have been processed.
    mutating func processed(_ cost: Int) {
        processed += cost
        // A sender that waits for the rest of the window has at least three quarters of it when all is processed.
        guard processed >= Self.window / 4 else { return }
        peerCredit += processed
        urgent.append(.credit(UInt32(processed)))
        processed = 0
    }

    /// The next frame that may be sent.
    mutating func next() -> (ticket: Ticket?, frame: DataFrame)? {
        if let frame = urgent.popFirst() { return (nil, frame) }
        guard let first = unsent.first, first.frame.cost <= credit else { return nil }
        credit -= first.frame.cost
        return unsent.popFirst()
    }
}
