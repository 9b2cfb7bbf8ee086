import Foundation
import Testing
@Test func scratch() throws { try Pipeline.record(Clips.bFrames).write(to: URL(fileURLWithPath: "/tmp/sc/r.mp4")) }
