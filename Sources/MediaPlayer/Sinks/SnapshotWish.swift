package import IoTCore
import MediaCodec
package import NIOCore
import Synchronization

/// A request for one picture that waits until the picture comes or the requester leaves.
package final class SnapshotWish: Sendable {
    private let format: PictureFormat
    /// The bounds of a JPEG.
    private let bounds: PictureBounds?
    private let view: PictureView
    private let promise: EventLoopPromise<Snapshot>
    private let isOver = Atomic(false)

    package init(
        _ format: PictureFormat, _ bounds: PictureBounds? = nil, view: PictureView = PictureView(),
        on eventLoop: any EventLoop
    ) {
        self.format = format
        self.bounds = bounds
        self.view = view
        promise = eventLoop.makePromise()
    }

    /// False when the request has ended.
    var isOpen: Bool { !isOver.load(ordering: .relaxed) }

    /// Encodes the picture if the request is still open.
    func take(_ picture: VideoPicture) {
        guard isOpen else { return }
        do throws(IoTError) {
            end(.success(try format.encode(try view.show(picture), bounds)))
        } catch {
            end(.failure(error))
        }
    }

    /// Ends the request; only the first call counts.
    package func end(_ result: Result<Snapshot, IoTError>) {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        promise.completeWith(result.mapError { $0 as any Error })
    }

    package var picture: Snapshot {
        get async throws(IoTError) {
            do {
                return try await withTaskCancellationHandler {
                    try await promise.futureResult.get()
                } onCancel: {
                    end(.failure(IoTError(.messageTimeout, "the request for the picture was cancelled")))
                }
            } catch {
                throw error as? IoTError ?? IoTError(.mediaFailed, underlying: error)
            }
        }
    }
}
