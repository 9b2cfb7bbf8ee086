import IoTCore
import IoTLink
import MediaPlayer

/// Live calls, one at a time: the camera gets the caller's picture and sound, as its source 1.
extension CameraStream {
    /// - Throws: `calleeBusy` during another live call.
    func beginLive(
        session: String, caller: Principal, requestKeyFrame: @escaping () -> Void
    ) throws(IoTError) -> LiveCall {
        guard live == nil else { throw IoTError(.calleeBusy) }
        let call = LiveCall(
            session: session, caller: caller, rendition: makeRendition(.high), requestKeyFrame: requestKeyFrame)
        live = call
        onChange()
        return call
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

    /// The caller of the live call, whom only the camera's owner may watch.
    func caller() throws(IoTError) -> Rendition {
        guard let live else {
            throw IoTError(
                .callTargetNotFound, "nobody is in a live call with this camera",
                remedy: "the event EVENT_CAM/LiveCall tells when somebody is")
        }
        return live.rendition
    }
}
