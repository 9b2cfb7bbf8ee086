import IoTCore

/// What an association tells its owner.
enum SCTPEvent {
    case established
    case message(SCTPMessage)

    /// The peer sends no more in these streams, and begins anew if it does.
    case incomingStreamsReset([UInt16])

    /// We may use these streams anew.
    case outgoingStreamsReset([UInt16])

    /// The peer has begun anew: what was queued, and every stream, is gone.
    case restarted

    /// The end; without an error after a shutdown or an abort of ours.
    case ended(IoTError?)
}
