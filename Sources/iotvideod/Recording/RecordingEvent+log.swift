import IoTCore
import Logging
import RecordingStore

extension RecordingEvent {
    func log(to logger: Logger) {
        switch self {
        case .paused(let error):
            logger.warning(
                "the recording is paused", metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
        case .resumed:
            logger.notice("the recording continues")
        case .dropped(let camera, let dropped):
            logger.warning(
                "the disk was too slow or away: fragments were dropped",
                metadata: [
                    "recording.camera": "\(camera)", "recording.fragments": "\(dropped.count)",
                    "recording.bytes": "\(dropped.bytes)",
                ])
        case .removed(let segments, let bytes, let cause):
            logger.info(
                "recordings were removed",
                metadata: [
                    "recording.segments": "\(segments)", "recording.bytes": "\(bytes)",
                    "recording.cause": "\(cause.rawValue)",
                ])
        case .full(let camera):
            let error = IoTError.recordingDiskFull
            logger.warning(
                "\(error.message)", metadata: ["recording.camera": "\(camera)", "remedy": "\(error.remedy)"])
        case .corrected(let runs):
            logger.notice(
                "the clock is synchronised: what was recorded before has its right time now",
                metadata: ["recording.runs": "\(runs)"])
        case .recovered(let segment, let bytes):
            logger.notice(
                "an interrupted recording was completed",
                metadata: ["recording.segment": "\(segment)", "recording.bytes": "\(bytes)"])
        }
    }
}
