import IoTCore

/// An event that an association reports to its owner.
enum SCTPEvent {
    case established
    case message(SCTPMessage)

    /// The peer has stopped sending in these streams; new data start a new sequence.
    case incomingStreamsReset([UInt16])

    /// We may reuse these streams.
    case outgoingStreamsReset([UInt16])

    /// The peer has restarted: queued messages and all streams are lost.
    case restarted

    /// The end; without an error after our own shutdown or abort.
    case ended(IoTError?)
}
