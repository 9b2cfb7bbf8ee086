import IoTCore
import RTP

/// The newest packets of a rendition's tracks, laid out once for all its readers. Confined to the camera's event loop.
struct ReaderRuns {
    private let video = (plain: PacketRun(isInterleaved: false), interleaved: PacketRun(isInterleaved: true))
    private let audio = (plain: PacketRun(isInterleaved: false), interleaved: PacketRun(isInterleaved: true))

    func run(_ kind: MediaKind, isInterleaved: Bool) -> PacketRun {
        switch (kind, isInterleaved) {
        case (.video, false): video.plain
        case (.video, true): video.interleaved
        case (.audio, false): audio.plain
        case (.audio, true): audio.interleaved
        }
    }
}
