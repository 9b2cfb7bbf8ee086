import IoTCore
import IoTLink
import MediaPlayer

/// Live calls, one at a time: the camera gets the caller's picture and sound, as its source 1.
extension CameraStream {
    /// A live call that is not connected yet. It keeps nobody out.
    ///
    /// - Throws: `calleeBusy` during the live call of somebody else. An owner ends that of somebody who does not own the
    ///   camera.
    func makeLive(
        session: String, grant: CallGrant, requestKeyFrame: @escaping () -> Void
    ) throws(IoTError) -> LiveCall {
        let call = LiveCall(
            session: session, caller: grant.user, isOwner: grant.isOwner, rendition: makeRendition(.high),
            requestKeyFrame: requestKeyFrame)
        try requireFree(for: call)
        return call
    }

    private func requireFree(for call: LiveCall) throws(IoTError) {
        guard let live, live.session != call.session else { return }
        guard call.isOwner, !live.isOwner else { throw IoTError(.calleeBusy) }
    }

    /// The call is connected.
    ///
    /// - Throws: `calleeBusy` during the live call of somebody else.
    func beginLive(_ call: LiveCall) throws(IoTError) {
        try requireFree(for: call)
        if let live { called(live.session)?.end(IoTError(.calleeBusy, "the camera's owner calls now")) }
        live = call
        onChange()
    }

    /// Has no effect for other sessions than that of the live call.
    func endLive(session: String) {
        guard let call = live, call.session == session else { return }
        live = nil
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
