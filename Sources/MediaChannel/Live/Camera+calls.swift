public import IoTCore
import NIOCore

/// Answers live calls to a camera whose key `live` is `ask` (docs/channels.md, "Live channels").
extension Camera {
    /// Accepts the call that rings: media begin to flow.
    ///
    /// - Parameter call: The call's id, as in `CameraSnapshot.call`; `nil` for the one that rings.
    /// - Throws: 20009 if it does not ring.
    public func acceptCall(_ call: String? = nil) async throws(IoTError) {
        try await stream.run { stream in
            stream.eventLoop.makeCompletedFuture { try stream.acceptCall(call) }
        }
    }

    /// Refuses the call that rings: its caller gets 20002.
    ///
    /// - Parameter call: The call's id, as in `CameraSnapshot.call`; `nil` for the one that rings.
    /// - Throws: 20009 if it does not ring.
    public func refuseCall(_ call: String? = nil) async throws(IoTError) {
        try await stream.run { stream in
            stream.eventLoop.makeCompletedFuture { try stream.refuseCall(call) }
        }
    }
}
