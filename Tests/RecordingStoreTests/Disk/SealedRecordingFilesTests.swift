import Glibc
import IoTCore
import NIOCore
import Sealing
import Synchronization
import Testing

@testable import RecordingStore

@Suite("Encrypted files of a disk")
struct SealedRecordingFilesTests {
    private let key = SealingKey()

    private func contents(_ id: SegmentID, _ files: any RecordingFiles) throws(FileFailure) -> [UInt8] {
        let file = try files.open(id.path)
        defer { files.close(file) }
        return Array(try files.read(file, at: 0, count: Int(try files.size(of: file))).readableBytesView)
    }

    private func reason(_ body: () throws(FileFailure) -> Void) -> Int32? {
        do throws(FileFailure) {
            try body()
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("The contents are those of a disk that is not encrypted, and the disk has none of them")
    func contents() throws {
        var plain = try WriterRig()
        var sealed = try WriterRig(keys: [key])
        for _ in 0..<12 {
            plain.second()
            sealed.second()
        }
        plain.stop()
        sealed.stop()
        #expect(plain.disk.paths == sealed.disk.paths && plain.disk.paths.count == 7)
        for path in plain.disk.paths {
            let id = try #require(SegmentID(path: path))
            let stored = try #require(sealed.disk.contents(path))
            #expect(try contents(id, sealed.files) == plain.disk.contents(path))
            #expect(!String(decoding: stored, as: UTF8.self).contains("frag"))
        }
        #expect(try sealed.check().isSound)
    }

    @Test("A disk with files of several keys and without one is read; new files have the first key")
    func severalKeys() throws {
        let newer = SealingKey()
        var rig = try WriterRig()
        var log: [SegmentID: [UInt8]] = [:]
        for keys in [nil, [key], [newer, key]] as [[SealingKey]?] {
            rig = try WriterRig(disk: rig.disk, index: rig.index, later: Int64(log.count) * 100_000_000, keys: keys)
            for _ in 0..<5 { rig.second([.front]) }
            rig.stop()
            for path in rig.disk.paths {
                let id = try #require(SegmentID(path: path))
                let bytes = try contents(id, rig.files)
                #expect(log[id] == nil || log[id] == bytes)
                log[id] = bytes
            }
        }
        #expect(log.count == 6)
        #expect(try rig.check().isSound)
        let last = SealedRecordingFiles(rig.disk, keys: [newer])
        #expect(try contents(SegmentID(camera: .front, number: 5), last) == log[SegmentID(camera: .front, number: 5)])
        #expect(
            reason { () throws(FileFailure) in _ = try contents(SegmentID(camera: .front, number: 3), last) } == ENOKEY)
    }

    @Test("Without the key of a recording that was interrupted, recording goes on, and the check names the files")
    func keyMissing() throws {
        var rig = try WriterRig(keys: [key])
        for _ in 0..<7 { rig.second([.front]) }
        var later = try WriterRig(disk: rig.disk, index: rig.index, later: 100_000_000, keys: [])
        #expect(later.writer.isRecording)
        later = try WriterRig(disk: rig.disk, index: rig.index, later: 200_000_000, keys: [SealingKey()])
        #expect(later.writer.isRecording)
        for _ in 0..<5 { later.second([.front]) }
        later.stop()
        let findings = try later.check().findings
        #expect(findings.contains(.keyMissing(SegmentID(camera: .front, number: 1))), "\(findings)")
        let reader = RecordingReader(files: later.files, index: later.index, leases: later.leases)
        #expect(throws: IoTError.self) { try reader.open(SegmentID(camera: .front, number: 1)) }
        #expect(later.leases.taken.isEmpty)
        // With the key again, what was synced is read.
        let files = SealedRecordingFiles(rig.disk, keys: [key])
        #expect(try contents(SegmentID(camera: .front, number: 2), files).count > 900)
    }

    @Test("A changed byte is noticed by a thorough check and by a reader, and only that file is refused")
    func damage() throws {
        var rig = try WriterRig(keys: [key])
        for _ in 0..<12 { rig.second([.front]) }
        rig.stop()
        let id = SegmentID(camera: .front, number: 1)
        rig.disk.state.withLock { state in
            if let inode = state.names[id.path] { state.inodes[inode]?[700] ^= 1 }
        }
        #expect(try rig.check().findings == [.fileDamaged(id)])
        #expect(reason { () throws(FileFailure) in _ = try contents(id, rig.files) } == EBADMSG)
        #expect(try contents(SegmentID(camera: .front, number: 2), rig.files).count > 900)
    }

    @Test("A file is cut at any place; what was written after a failed write is read")
    func cutAndRepeated() throws {
        let disk = LoggedDisk()
        let files = SealedRecordingFiles(disk, keys: [key])
        let file = try files.create("00000001/00000001.mp4")
        try files.write([ByteBuffer(repeating: 1, count: 100)], to: file, at: 0)
        disk.state.withLock { state in
            state.failure = LoggedDisk.Failure(call: .write, number: state.writeCalls, reason: EIO)
        }
        #expect(
            reason { () throws(FileFailure) in
                try files.write([ByteBuffer(repeating: 2, count: 90)], to: file, at: 100)
            } == EIO)
        try files.write([ByteBuffer(repeating: 3, count: 50), ByteBuffer(repeating: 4, count: 50)], to: file, at: 100)
        try files.write([ByteBuffer(repeating: 5, count: 16)], to: file, at: 20)
        try files.truncate(file, to: 160)
        try files.write([ByteBuffer(repeating: 6, count: 10)], to: file, at: 160)
        var expected = [UInt8](repeating: 1, count: 100) + [UInt8](repeating: 3, count: 50)
        expected += [UInt8](repeating: 4, count: 10) + [UInt8](repeating: 6, count: 10)
        expected.replaceSubrange(20..<36, with: [UInt8](repeating: 5, count: 16))
        #expect(Array(try files.read(file, at: 0, count: 1_000).readableBytesView) == expected)
        #expect(try contents(SegmentID(camera: .front, number: 1), files) == expected)
        #expect(
            reason { () throws(FileFailure) in
                try files.write([ByteBuffer(repeating: 9, count: 16)], to: file, at: 165)
            } == EINVAL)
    }
}
