import IoTCore
import MediaCodec
import NIOCore

/// A loudspeaker as an event loop uses it.
struct LoudspeakerHandle: Sendable {
    let open: @Sendable () -> EventLoopFuture<Void>
    let play: @Sendable ([Int16]) -> Void
    let failure: @Sendable () -> IoTError?
    let close: @Sendable () -> EventLoopFuture<Void>

    /// The loop keeps the tasks of `open` and `close` until they end.
    init(_ loudspeaker: any Loudspeaker, on eventLoop: any EventLoop) {
        open = { eventLoop.makeFutureWithTask { try await loudspeaker.open() } }
        play = { loudspeaker.play($0) }
        failure = { loudspeaker.failure }
        close = { eventLoop.makeFutureWithTask { await loudspeaker.close() } }
    }

    init(
        open: @escaping @Sendable () -> EventLoopFuture<Void>, play: @escaping @Sendable ([Int16]) -> Void,
        failure: @escaping @Sendable () -> IoTError?, close: @escaping @Sendable () -> EventLoopFuture<Void>
    ) {
        self.open = open
        self.play = play
        self.failure = failure
        self.close = close
    }
}
