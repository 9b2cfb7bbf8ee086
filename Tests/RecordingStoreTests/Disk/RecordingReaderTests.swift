import IoTCore
import NIOCore
import Synchronization
import Testing

@testable import RecordingStore

@Suite("Reading while a disk records")
struct RecordingReaderTests {
    @Test("What is being read stays, and is removed after that")
    func lease() throws {
        var rig = try WriterRig(limits: [.front: CameraLimits(bytes: 20_000)])
        for _ in 0..<12 { rig.second() }
        let reader = RecordingReader(files: rig.disk, index: rig.index, leases: rig.leases)
        let id = SegmentID(camera: .front, number: 1)
        var recording: OpenRecording? = try reader.open(id)
        let size = try #require(recording?.record.byteCount)
        for _ in 0..<60 { rig.second() }
        let bytes = try recording?.read(at: 0, count: 1_000_000)
        #expect(bytes.map { Array($0.readableBytesView) } == rig.disk.contents(id.path))
        #expect(bytes.map { Int64($0.readableBytes) } == size)
        recording = nil
        for _ in 0..<12 { rig.second() }
        #expect(rig.disk.contents(id.path) == nil)
        #expect(throws: IoTError.self) { try reader.open(id) }
    }

    @Test("A missing file is told from a removed segment, and neither leaves a lease")
    func missing() throws {
        var rig = try WriterRig()
        for _ in 0..<12 { rig.second() }
        let reader = RecordingReader(files: rig.disk, index: rig.index, leases: rig.leases)
        let id = SegmentID(camera: .front, number: 1)
        _ = rig.disk.state.withLock { $0.names.removeValue(forKey: id.path) }
        func code(_ number: UInt32) -> ErrorCode? {
            do throws(IoTError) {
                _ = try reader.open(SegmentID(camera: .front, number: number))
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(1) == .downloadOpenFailed && code(99) == .downloadNotFound && code(2) == nil)
        #expect(rig.leases.taken.isEmpty)
    }
}
