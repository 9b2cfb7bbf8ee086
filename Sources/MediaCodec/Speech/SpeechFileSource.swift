import Foundation
import IoTCore
import Synchronization

/// Reads a file or a stream of bytes ahead on a thread of its own.
package final class SpeechFileSource: SpeechSource {
    /// Half a second.
    private static let limit = SpeechFormat.sampleRate / 2

    package let isLive = false

    private let queue = SampleQueue(limit: SpeechFileSource.limit)
    private let input: SoundReader.Input
    private let cancellation = DemuxerCancellation()
    private let result = Mutex<CaptureEnd?>(nil)

    package init(_ input: SoundReader.Input) {
        self.input = input
        let (queue, cancellation) = (queue, cancellation)
        let thread = Thread { [weak self] in
            let end = Self.read(input, into: queue, cancellation)
            // A stream's writer must not wait for a reader that has ended.
            input.close()
            self?.result.withLock { $0 = end }
        }
        thread.name = "speech file"
        thread.start()
    }

    deinit {
        close()
    }

    package func take(_ count: Int) -> [Int16] { queue.take(count) }

    package var end: CaptureEnd? {
        guard let result = result.withLock({ $0 }) else { return nil }
        return queue.isEmpty ? result : nil
    }

    package func close() {
        cancellation.cancel()
        input.close()
        queue.close()
    }

    private static func read(
        _ input: SoundReader.Input, into queue: SampleQueue, _ cancellation: DemuxerCancellation
    ) -> CaptureEnd {
        do throws(IoTError) {
            let reader = try SoundReader(input, cancellation: cancellation)
            while let samples = try reader.read() {
                guard queue.write(samples) else { return .finished }
            }
            return .finished
        } catch {
            return .failed(error)
        }
    }
}

extension SoundReader.Input {
    fileprivate func close() {
        if case .channel(let bytes) = self { bytes.close() }
    }
}
