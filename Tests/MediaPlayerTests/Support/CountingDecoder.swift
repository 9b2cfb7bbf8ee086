import IoTCore
import MediaCodec
import Synchronization

@testable import MediaPlayer

/// The built-in decoder, with a count of its frames.
final class CountingDecoder: PictureDecoder {
    final class Count: Sendable {
        private let count = Atomic(0)

        var value: Int { count.load(ordering: .relaxed) }

        func add() { count.add(1, ordering: .relaxed) }
    }

    private let decoder: VideoDecoder
    private let count: Count

    init(_ parameters: VideoParameters, _ count: Count) throws(IoTError) {
        decoder = try VideoDecoder(parameters)
        self.count = count
    }

    func decode(_ frame: MediaFrame, isShown: Bool) throws(IoTError) -> [VideoPicture] {
        count.add()
        return try decoder.decode(frame, isShown: isShown)
    }

    func flush() -> [VideoPicture] { decoder.flush() }

    func reset() { decoder.reset() }
}
