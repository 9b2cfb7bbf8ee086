package import IoTCore
import MediaCodec
package import NIOCore
import Synchronization

/// Somebody waits for one picture, until it comes or they leave.
package final class SnapshotWish: Sendable {
    private let format: PictureFormat
    /// Of a JPEG.
    private let bounds: PictureBounds?
    private let promise: EventLoopPromise<Snapshot>
    private let isOver = Atomic(false)

    package init(_ format: PictureFormat, _ bounds: PictureBounds? = nil, on eventLoop: any EventLoop) {
        self.format = format
        self.bounds = bounds
        promise = eventLoop.makePromise()
    }

    /// False as soon as nobody waits any more.
    var isOpen: Bool { !isOver.load(ordering: .relaxed) }

    /// Encodes the picture for those who still wait.
    func take(_ picture: VideoPicture) {
        guard isOpen else { return }
        do throws(IoTError) {
            end(.success(try format.encode(picture, bounds)))
        } catch {
            end(.failure(error))
        }
    }

    /// The first end counts.
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
                    end(.failure(IoTError(.messageTimeout, "nobody waits for the picture any more")))
                }
            } catch {
                throw error as? IoTError ?? IoTError(.mediaFailed, underlying: error)
            }
        }
    }
}
