import Foundation
import Testing

@testable import iotvideod

@Suite struct MemoryTrimTests {
    @Test("Memory that was freed between blocks in use is returned to the system")
    func trim() throws {
        let floor = MemoryTrim.trim(past: 0)
        let before = try anonymousMemory()
        // 128 MiB of small blocks. The few that remain keep malloc from returning the memory before them.
        var blocks = (0..<131_072).map { _ in
            let block = UnsafeMutableRawPointer.allocate(byteCount: 1_024, alignment: 16)
            block.initializeMemory(as: UInt8.self, repeating: 1, count: 1_024)
            return block
        }
        var kept: [UnsafeMutableRawPointer] = []
        for (index, block) in blocks.enumerated() {
            if index % 4_096 == 4_095 { kept.append(block) } else { block.deallocate() }
        }
        blocks = []
        defer { for block in kept { block.deallocate() } }
        #expect(try anonymousMemory() - before > 64 << 20)
        #expect(MemoryTrim.unused() - floor > MemoryTrim.worthwhile)
        let left = MemoryTrim.trim(past: floor)
        #expect(try anonymousMemory() - before < 48 << 20)
        #expect(left - floor < MemoryTrim.worthwhile, "the next check finds nothing worthwhile")
    }

    private func anonymousMemory() throws -> Int { try #require(ProcessMetrics.memory()).anonymous }
}
