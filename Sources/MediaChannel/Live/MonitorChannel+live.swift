public import IoTCore
public import MediaCodec
import NIOCore
import RTP

/// Live channels: the caller shows one of its gateway's cameras.
extension MonitorChannel {
    /// The format of the caller's pictures; `nil` if the channel is not live. Without a camera the channel is opened for
    /// H.264, so that one can be shown later.
    func ownPictureCodec(_ camera: OwnCamera?) async throws(IoTError) -> RTPCodec? {
        guard kind == .live else { return nil }
        return try await camera?.codec() ?? PictureSender.codec
    }

    /// Shows a program's pictures to the device, as H.264, in place of what was shown before, and closes their source when
    /// they are shown no more.
    ///
    /// - Throws: 21040 if the channel is not live, or was opened for pictures of another format; the reason if the channel
    ///   has ended.
    public func show(_ pictures: any PictureSource) async throws(IoTError) {
        try await onCore { core throws(IoTError) in try core.picture.show(pictures, on: core.eventLoop) }
    }

    /// Shows a camera to the device, in place of the one before; `nil` for none. If this fails, the one before stays.
    ///
    /// - Throws: 21040 if the channel is not live, or was opened for pictures of another format; the error of the
    ///   camera's source; 20007 if the camera has too many viewers; 25023 if it is switched off; 20002 if the channel
    ///   ends, or a newer change replaces this one.
    package func show(_ camera: OwnCamera?) async throws(IoTError) {
        let number = try await onCore { core throws(IoTError) in try core.picture.beginChange() }
        guard let camera else {
            return try await onCore { core throws(IoTError) in core.picture.hide(number) }
        }
        let codec = try await camera.codec()
        try await onCore { core throws(IoTError) in try core.picture.requireFitting(codec) }
        let core = core
        let showing = try await camera.show { packets in
            core.eventLoop.execute { core.value.picture.send(packets, number) }
        } onEnd: { reason in
            core.eventLoop.execute { core.value.picture.ended(number, reason) }
        }
        let name = camera.camera.settings.name
        do throws(IoTError) {
            try await onCore { core throws(IoTError) in
                try core.picture.began(name, number) { showing.end() }
            }
        } catch {
            showing.end()
            throw error
        }
    }
}
