import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore

/// Takes a photo: decodes the newest group of pictures up to its last picture, on its own thread.
final class PhotoTaker: Sendable {
    private let stream: NIOLoopBoundBox<CameraStream>
    private let store: PhotoStore
    private let device: DeviceID
    private let worker = SerialWorker(name: "photo", limit: 4)

    init(stream: NIOLoopBoundBox<CameraStream>, store: PhotoStore, device: DeviceID) {
        self.stream = stream
        self.store = store
        self.device = device
    }

    deinit {
        worker.stop()
    }

    /// The action's result: `{"resource","contentType","width","height"}`.
    func take() async throws(IoTError) -> JSONValue {
        let picture = try await picture(nil)
        let name = store.add(picture.bytes, of: device, at: .now())
        return [
            "resource": .string(name), "contentType": "image/jpeg", "width": .integer(Int64(picture.width)),
            "height": .integer(Int64(picture.height)),
        ]
    }

    /// - Parameter patience: how long to wait for a picture if there is none yet.
    func picture(
        _ bounds: PictureBounds?, waitingAtMost patience: TimeAmount = .zero
    ) async throws(IoTError) -> Snapshot {
        do {
            if patience > .zero {
                try await stream.eventLoop.flatSubmit { [stream] in stream.value.untilPicture(within: patience) }.get()
            }
            let (frames, parameters, rotation, isOn) = try await stream.eventLoop.submit { [stream] in
                let stream = stream.value
                return (stream.main.group.frames, stream.main.videoParameters, stream.rotation, stream.isOn)
            }.get()
            guard isOn else { throw IoTError(.cameraOff) }
            guard let parameters, !frames.isEmpty else {
                throw IoTError(.deviceOperationFailed, "the camera has no picture yet")
            }
            let promise = stream.eventLoop.makePromise(of: Snapshot.self)
            let accepted = worker.submit {
                promise.completeWith(Result { try Self.develop(frames, parameters, rotation, bounds) })
            }
            if !accepted { promise.fail(IoTError(.deviceBusy, "other photos are being taken")) }
            return try await promise.futureResult.get()
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.internalFailure, underlying: error)
        }
    }

    private static func develop(
        _ frames: [MediaFrame], _ parameters: VideoParameters, _ rotation: PictureRotation, _ bounds: PictureBounds?
    ) throws -> Snapshot {
        let decoder = try VideoDecoder(parameters, threads: 1)
        var newest: VideoPicture?
        for frame in frames {
            if let picture = try decoder.decode(frame).last { newest = picture }
        }
        if let picture = decoder.flush().last { newest = picture }
        guard let newest else { throw IoTError(.deviceOperationFailed, "the newest picture cannot be decoded") }
        return try Snapshot(jpegOf: try newest.rotated(rotation), bounds)
    }
}
