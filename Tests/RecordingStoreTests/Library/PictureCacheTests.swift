import IoTCore
import NIOCore
import Testing

@testable import RecordingStore

@Suite struct PictureCacheTests {
    private func key(_ number: UInt32, offset: Int64 = 100, wall: Int64 = 0, _ size: String? = nil) -> PictureCache.Key
    {
        PictureCache.Key(
            segment: SegmentID(camera: .front, number: number), offset: offset, wallStart: wall,
            bounds: size.flatMap { PictureBounds($0) })
    }

    private func entry(_ time: Int64, end: Int64 = .max, bytes: Int = 744) -> PictureCache.Entry {
        PictureCache.Entry(
            picture: RecordedPicture(bytes: ByteBuffer(repeating: 7, count: bytes), time: time), end: end)
    }

    @Test("A picture is found for the times until the next key frame, for its fragment and size only")
    func keys() {
        let cache = PictureCache()
        cache.store(entry(10, end: 20), key(1))
        #expect(cache.picture(key(1), at: 10)?.time == 10 && cache.picture(key(1), at: 19)?.time == 10)
        #expect(cache.picture(key(1), at: 9) == nil && cache.picture(key(1), at: 20) == nil)
        for other in [key(2), key(1, offset: 101), key(1, wall: 1), key(1, "64")] {
            #expect(cache.picture(other, at: 15) == nil)
        }
    }

    @Test("It has two generations of at most its limit; what was used last stays")
    func bounds() {
        let cache = PictureCache(limit: 10_000)
        for number in 1...10 as ClosedRange<UInt32> { cache.store(entry(0), key(number)) }
        // Another generation: the first one is still used.
        for number in 11...19 as ClosedRange<UInt32> { cache.store(entry(0), key(number)) }
        #expect(cache.picture(key(1), at: 5) != nil)
        for number in 20...28 as ClosedRange<UInt32> { cache.store(entry(0), key(number)) }
        #expect(cache.picture(key(1), at: 5) != nil && cache.picture(key(11), at: 5) != nil)
        #expect(cache.picture(key(2), at: 5) == nil)
        cache.store(entry(0, bytes: 10_000), key(50))
        #expect(cache.picture(key(50), at: 5) == nil, "larger than the cache")
        let kept = (1...60 as ClosedRange<UInt32>).count { cache.picture(key($0), at: 5) != nil }
        #expect(kept <= 20)
    }
}
