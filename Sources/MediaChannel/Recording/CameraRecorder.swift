package import IoTCore
import MediaPlayer
package import RecordingStore

/// Records a camera: makes segments of its source's frames on a thread of its own. It is not a viewer, and the camera's
/// event loop does not wait for it.
///
/// `@unchecked Sendable`: `recording` is used only by the worker's jobs, `hasGap` only on the camera's event loop.
package final class CameraRecorder: @unchecked Sendable {
    /// The most frames that wait for the thread: some seconds of pictures and sound.
    private static let limit = 512

    private let recording: CameraRecording
    private let worker = SerialWorker(name: "recorder", limit: CameraRecorder.limit)
    private let clock: @Sendable () -> (now: Moment, isSynchronised: Bool)
    private let write: @Sendable (CameraRecording.Output) -> Void
    private let onFailure: @Sendable (IoTError) -> Void
    /// Frames were lost since the last one that was taken.
    private var hasGap = false

    /// - Parameters:
    ///   - clock: both of the machine's clocks, and whether the wall clock is synchronised.
    ///   - write: takes what is to be written, in order, and must not block.
    ///   - onFailure: called when the sound, or everything, is not recorded; once for each reason.
    package init(
        _ recording: sending CameraRecording,
        clock: @escaping @Sendable () -> (now: Moment, isSynchronised: Bool) = {
            (Moment.now(), ClockState.isSynchronised())
        },
        write: @escaping @Sendable (CameraRecording.Output) -> Void,
        onFailure: @escaping @Sendable (IoTError) -> Void
    ) {
        self.recording = recording
        self.clock = clock
        self.write = write
        self.onFailure = onFailure
    }

    /// On the camera's event loop.
    ///
    /// - Parameter isOn: whether the camera is on; frames of a camera that is off are not recorded.
    func take(_ event: CameraSourceEvent, isOn: Bool) {
        switch event {
        case .connecting: break
        case .opened(let video, let audio):
            submit(beyondLimit: true) { $0.opened(video: video, audio: audio) }
        case .frame(let frame):
            guard isOn else { return }
            let (now, isSynchronised) = clock()
            let isTaken = submit { [hasGap] recording in
                // The pictures after a gap cannot be decoded before the next key frame.
                (hasGap ? recording.end() : []) + recording.take(frame, now: now, isSynchronised: isSynchronised)
            }
            hasGap = !isTaken
        case .failed: pause()
        }
    }

    /// The source was lost, or the camera was switched off: ends the segment.
    func pause() {
        submit(beyondLimit: true) { $0.end() }
    }

    /// Ends the segment, and then the thread. Returns when everything was handed over to the disk.
    package func close() async {
        pause()
        await withCheckedContinuation { continuation in
            let isTaken = worker.submit(beyondLimit: true) { continuation.resume() }
            if !isTaken { continuation.resume() }
        }
        worker.stop()
    }

    @discardableResult
    private func submit(
        beyondLimit: Bool = false, _ body: @escaping @Sendable (CameraRecording) -> [CameraRecording.Output]
    ) -> Bool {
        worker.submit(beyondLimit: beyondLimit) { [self] in
            let before = recording.failure
            for output in body(recording) { write(output) }
            if let failure = recording.failure, failure.code != before?.code { onFailure(failure) }
        }
    }
}
