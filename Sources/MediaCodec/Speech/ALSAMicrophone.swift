import Foundation
import IoTCore
import NIOCore
import Synchronization

/// Records from an ALSA device on a thread of its own.
package final class ALSAMicrophone: SpeechSource {
    /// Half a second; older sound is dropped.
    private static let limit = SpeechFormat.sampleRate / 2
    /// A device that runs ahead of the clock by more than this is not a real one; its thread must not use the whole
    /// processor.
    private static let largestLead: TimeAmount = .milliseconds(200)

    package let isLive = true

    private let queue = SampleQueue(limit: ALSAMicrophone.limit)
    private let state = Mutex(State())

    private struct State {
        var isClosed = false
        var end: CaptureEnd?
    }

    package init(device name: String) {
        let queue = queue
        let thread = Thread { [weak self] in
            do throws(IoTError) {
                let device = try ALSADevice(name, .capture)
                var start = NIODeadline.now()
                var count = 0
                // Not a strong reference during the loop: the microphone ends when its owner releases it.
                while self?.isClosed == false {
                    let samples = try device.read()
                    queue.push(samples)
                    count += samples.isEmpty ? ALSADevice.period : samples.count
                    let lead =
                        TimeAmount.nanoseconds(Int64(count) * 1_000_000_000 / Int64(SpeechFormat.sampleRate))
                        - (NIODeadline.now() - start)
                    // After a pause of the machine, such a device must not catch up.
                    if lead + Self.largestLead < .zero {
                        start = .now()
                        count = 0
                    }
                    if lead > Self.largestLead { Thread.sleep(forTimeInterval: 0.010) }
                }
                self?.end(.finished)
            } catch {
                self?.end(.failed(error))
            }
        }
        thread.name = "microphone"
        thread.start()
    }

    /// Samples that were dropped because nobody took them.
    package var dropped: Int { queue.dropped }

    package func take(_ count: Int) -> [Int16] { queue.take(count) }

    package var end: CaptureEnd? {
        guard let end = state.withLock({ $0.end }) else { return nil }
        return queue.isEmpty ? end : nil
    }

    package func close() {
        state.withLock { $0.isClosed = true }
        queue.close()
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func end(_ end: CaptureEnd) {
        state.withLock { $0.end = end }
    }
}
