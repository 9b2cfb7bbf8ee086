import IoTCore
import MediaCodec
import NIOCore
import Synchronization

/// Pictures that were decoded from recordings, so that a timeline that is shown again needs no decoder.
///
/// It says nothing about whether a segment still exists: whoever asks has opened the segment. A number of a segment is
/// never used again, and a fragment does not change.
final class PictureCache: Sendable {
    struct Key: Hashable {
        var segment: SegmentID
        /// Of the fragment in the file.
        var offset: Int64
        /// Of the fragment, µs since 1970: a corrected clock moves it.
        var wallStart: Int64
        var bounds: PictureBounds?
    }

    struct Entry {
        var picture: RecordedPicture
        /// For the times from its own until this one, µs since 1970.
        var end: Int64

        var byteCount: Int { picture.bytes.readableBytes + 256 }
    }

    /// Two generations, so that what was used last is found without a list in the order of use.
    private struct Generations {
        var young: [Key: Entry] = [:]
        var old: [Key: Entry] = [:]
        /// Of the young ones.
        var byteCount = 0
    }

    /// The most bytes of a generation: 16 MiB, or about 1,500 pictures of 320 pixels.
    private let limit: Int
    private let generations = Mutex(Generations())

    init(limit: Int = 16 << 20) {
        self.limit = limit
    }

    /// The picture of a fragment, for a time in µs since 1970.
    func picture(_ key: Key, at time: Int64) -> RecordedPicture? {
        generations.withLock { generations in
            guard let entry = generations.young[key] ?? generations.old[key],
                entry.picture.time <= time, time < entry.end
            else { return nil }
            if generations.young[key] == nil { insert(entry, key, &generations) }
            return entry.picture
        }
    }

    func store(_ entry: Entry, _ key: Key) {
        guard entry.byteCount <= limit else { return }
        generations.withLock { insert(entry, key, &$0) }
    }

    private func insert(_ entry: Entry, _ key: Key, _ generations: inout Generations) {
        if generations.byteCount + entry.byteCount > limit {
            generations.old = generations.young
            generations.young = [:]
            generations.byteCount = 0
        }
        let before = generations.young.updateValue(entry, forKey: key)
        generations.byteCount += entry.byteCount - (before?.byteCount ?? 0)
    }
}
