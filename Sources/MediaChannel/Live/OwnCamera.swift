package import IoTCore
import NIOCore
import RTP
import Synchronization

/// One of this gateway's cameras as the caller's own in a live call.
package final class OwnCamera: Sendable {
    let camera: Camera
    private let account: String
    private let isOwner: Bool
    private let state = Mutex<(showing: Showing?, right: (any Sendable)?, revocation: IoTError?)>((nil, nil, nil))

    /// - Parameters:
    ///   - account: The account that shows the camera; it counts as one of its viewers.
    ///   - isOwner: Whether the account owns the camera.
    package init(_ camera: Camera, account: String, isOwner: Bool) {
        self.camera = camera
        self.account = account
        self.isOwner = isOwner
    }

    /// Keeps the right to show the camera as long as it can be shown.
    package func keep(_ right: any Sendable) { state.withLock { $0.right = right } }

    /// The account has lost the right: the camera is no longer shown.
    package func revoke(_ reason: IoTError) {
        let showing = state.withLock { state in
            state.revocation = reason
            return state.showing.take()
        }
        showing?.end(reason)
    }

    /// The codec of its pictures.
    ///
    /// - Throws: The source's error if it cannot be reached; `operationNotAllowed` for a camera without pictures.
    func codec() async throws(IoTError) -> RTPCodec {
        guard let codec = try await camera.readerTracks(.high).first(where: { $0.format?.kind == .video }) else {
            throw IoTError(.operationNotAllowed, "the camera '\(camera.settings.name)' sends no picture")
        }
        return codec
    }

    /// Passes the camera's pictures to `send`, from the newest key frame on, until `Showing.end` or `onEnd`. Both are
    /// called on the camera's event loop.
    ///
    /// - Throws: `allChannelsBusy`, `cameraOff`; the reason of the revocation.
    func show(
        send: @escaping @Sendable ([MediaPacket]) -> Void, onEnd: @escaping @Sendable (IoTError) -> Void
    ) async throws(IoTError) -> Showing {
        let showing = try await camera.stream.run { [self] stream in
            stream.eventLoop.makeCompletedFuture {
                // Before the first picture is sent.
                if let revocation = state.withLock({ $0.revocation }) { throw revocation }
                let viewer = CallerCamera(
                    stream, stream.main, account: account, isOwner: isOwner, send: send, onEnd: onEnd)
                try stream.add(viewer)
                do throws(IoTError) {
                    try stream.takePlace(session: viewer.session)
                } catch {
                    stream.remove(session: viewer.session)
                    throw error
                }
                viewer.begin(at: stream.eventLoop.now)
                return Showing(self, NIOLoopBound(viewer, eventLoop: stream.eventLoop), on: stream.eventLoop)
            }
        }
        let revocation = state.withLock { state in
            state.showing = showing
            return state.revocation
        }
        if let revocation { showing.end(revocation) }
        return showing
    }

    /// A camera whose pictures are passed on. Its user ends it.
    final class Showing: Sendable {
        /// Kept for its right.
        private let owner: OwnCamera
        private let viewer: NIOLoopBound<CallerCamera>
        private let eventLoop: any EventLoop

        init(_ owner: OwnCamera, _ viewer: NIOLoopBound<CallerCamera>, on eventLoop: any EventLoop) {
            self.owner = owner
            self.viewer = viewer
            self.eventLoop = eventLoop
        }

        /// - Parameter reason: `nil` if its user ends it, who needs no notice.
        func end(_ reason: IoTError? = nil) {
            owner.state.withLock { $0.showing = nil }
            eventLoop.execute { [viewer] in
                if let reason { viewer.value.end(reason) } else { viewer.value.hungUp() }
            }
        }
    }
}
