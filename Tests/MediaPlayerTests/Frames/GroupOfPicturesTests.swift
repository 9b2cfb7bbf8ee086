import IoTCore
import NIOCore
import Testing

@testable import MediaPlayer

@Suite struct GroupOfPicturesTests {
    private func frame(_ kind: MediaKind, isKey: Bool = false, pts: Int64, size: Int = 1) -> MediaFrame {
        MediaFrame(
            kind: kind, isKeyFrame: isKey, pts: pts, dts: pts, bytes: ByteBuffer(repeating: 0, count: size))
    }

    private let now = NIODeadline.uptimeNanoseconds(1)

    @Test("Holds the newest key frame and all frames after it, including sound")
    func newest() {
        var group = GroupOfPictures()
        group.append(frame(.audio, isKey: true, pts: 0), at: now)
        group.append(frame(.video, pts: 1), at: now)
        #expect(group.frames.isEmpty)
        group.append(frame(.video, isKey: true, pts: 2), at: now)
        group.append(frame(.audio, isKey: true, pts: 3), at: now)
        group.append(frame(.video, pts: 4), at: now)
        #expect(group.frames.map(\.pts) == [2, 3, 4])
        group.append(frame(.video, isKey: true, pts: 5), at: now)
        #expect(group.frames.map(\.pts) == [5])
    }

    @Test("The frames and bytes are limited; it starts again at the next key frame")
    func bounds() {
        var group = GroupOfPictures()
        group.append(frame(.video, isKey: true, pts: 0), at: now)
        for index in 1...Int64(GroupOfPictures.maximumFrames) { group.append(frame(.video, pts: index), at: now) }
        #expect(group.frames.isEmpty)
        group.append(frame(.video, isKey: true, pts: 0, size: GroupOfPictures.maximumBytes), at: now)
        #expect(group.frames.count == 1)
        group.append(frame(.video, pts: 1), at: now)
        #expect(group.frames.isEmpty)
        group.append(frame(.video, isKey: true, pts: 2), at: now)
        #expect(group.frames.count == 1)
    }
}
