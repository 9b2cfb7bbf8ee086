import IoTCore
import MediaCodec
import MediaPlayer

enum MediaPlayerSnippet {
    // snippet
    /// Counts the pictures of a channel.
    final class Counter: PictureSink {
        private(set) var count = 0

        func take(_ picture: VideoPicture) -> Bool {
            count += 1
            return true
        }

        func end(_ reason: IoTError?) {}
    }

    static func countingParts() -> PlayerParts {
        var parts = PlayerParts()
        parts.pictureRenderer = { Counter() }
        return parts
    }
    // end
}
