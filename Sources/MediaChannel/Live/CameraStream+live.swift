import IoTCore
import IoTLink
import MediaPlayer
import NIOCore

/// Live calls, one at a time: the camera gets the caller's picture and sound, as its source `caller`.
extension CameraStream {
    /// A live call that is not connected yet. It keeps nobody out.
    ///
    /// - Throws: `calleeBusy` during the live call of somebody else. An owner ends that of somebody who does not own the
    ///   camera. `tooManyRequests` if the caller's calls have rung too often.
    func makeLive(
        session: String, grant: CallGrant, requestKeyFrame: @escaping () -> Void
    ) throws(IoTError) -> LiveCall {
        let call = LiveCall(
            session: session, caller: grant.user, isOwner: grant.isOwner, isRinging: callsRing,
            rendition: makeRendition(.high), requestKeyFrame: requestKeyFrame)
        try requireFree(for: call)
        if call.isRinging, !call.isOwner { try ringLimit.check(call.caller, at: eventLoop.now) }
        return call
    }

    private func requireFree(for call: LiveCall) throws(IoTError) {
        guard let live, live.session != call.session else { return }
        guard call.isOwner, !live.isOwner else { throw IoTError(.calleeBusy) }
    }

    /// The call is connected. It begins, or rings until somebody answers it.
    ///
    /// - Throws: `calleeBusy` during the live call of somebody else.
    func beginLive(_ call: LiveCall) throws(IoTError) {
        try requireFree(for: call)
        if call.isRinging, !call.isOwner { try ringLimit.begin(call.caller, at: eventLoop.now) }
        if let live { called(live.session)?.end(IoTError(.calleeBusy, "the camera's owner calls now")) }
        live = call
        call.begin(on: eventLoop) { [weak self] in
            self?.called(call.session)?.end(
                IoTError(.peerTimeout, "nobody answered the call", remedy: "call again later"))
        }
        onChange()
    }

    /// Somebody at the camera accepts the call that rings.
    ///
    /// - Parameter session: The call; `nil` for the one that rings.
    /// - Throws: 20009 if it does not ring.
    func acceptCall(_ session: String?) throws(IoTError) {
        let (call, viewer) = try ringing(session)
        call.accept()
        ringLimit.accepted(call.caller)
        viewer.connection.accepted(at: eventLoop.now)
        onChange()
    }

    /// Somebody at the camera refuses the call that rings. The caller gets 20002.
    ///
    /// - Parameter session: The call; `nil` for the one that rings.
    /// - Throws: 20009 if it does not ring.
    func refuseCall(_ session: String?) throws(IoTError) {
        try ringing(session).viewer.end(IoTError(.hungUp, "the call was refused", remedy: "call again later"))
    }

    private func ringing(_ session: String?) throws(IoTError) -> (call: LiveCall, viewer: any CalledViewer) {
        guard let live, live.isRinging, session ?? live.session == live.session, let viewer = called(live.session)
        else {
            throw IoTError(
                .callTargetNotFound, session == nil ? "no call rings at this camera" : "this call does not ring",
                remedy: "the event \(LiveCallEvents.topic) tells when a call rings; it rings for 30 s")
        }
        return (live, viewer)
    }

    /// Has no effect for other sessions than that of the live call.
    func endLive(session: String) {
        guard let call = live, call.session == session else { return }
        live = nil
        call.end()
        for viewer in viewers.values where viewer.uses(call.rendition) {
            viewer.end(IoTError(.hungUp, "the caller left"))
        }
        call.rendition.close()
        onChange()
    }

    /// What the caller of the live call shows. Only the camera's owner may watch it, which `CameraCalls` checks.
    func callerRendition() throws(IoTError) -> Rendition {
        guard let live else {
            throw IoTError(
                .callTargetNotFound, "nobody is in a live call with this camera",
                remedy: "the event EVENT_CAM/LiveCall tells when somebody is")
        }
        return live.rendition
    }
}
