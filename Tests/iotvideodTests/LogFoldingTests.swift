import Logging
import NIOCore
import Testing

@testable import iotvideod

@Suite("Folding of log lines") struct LogFoldingTests {
    private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

    private func texts(_ outputs: [LogFolding<String, String>.Output]) -> [String] {
        outputs.map { $0.count > 1 ? "{…\($0.count)} \($0.line)" : $0.line }
    }

    @Test("The first line is written at once, and then the newest one once a second with their number")
    func folds() {
        var folding = LogFolding<String, String>()
        var written: [String] = []
        for index in 0..<60 as Range<Int64> {
            written += texts(folding.take("a\(index)", key: "a", at: start + .milliseconds(index * 40)))
        }
        #expect(written == ["a0", "{…24} a24", "{…25} a49"])
        #expect(folding.isWaiting)
        #expect(texts(folding.flush(at: start + .milliseconds(3_000))) == ["{…10} a59"])
        #expect(!folding.isWaiting && folding.flush(at: start + .seconds(10)).isEmpty)
    }

    @Test("Lines of other kinds are not folded together, and are written in order")
    func kinds() {
        var folding = LogFolding<String, String>()
        #expect(texts(folding.take("a", key: "a", at: start)) == ["a"])
        #expect(texts(folding.take("b", key: "b", at: start)) == ["b"])
        #expect(folding.take("b2", key: "b", at: start + .milliseconds(500)).isEmpty)
        #expect(folding.take("a2", key: "a", at: start + .milliseconds(600)).isEmpty)
        #expect(folding.take("a3", key: "a", at: start + .milliseconds(700)).isEmpty)
        let late = texts(folding.take("c", key: "c", at: start + .milliseconds(1_001)))
        #expect(Set(late.dropLast()) == ["b2", "{…2} a3"] && late.last == "c")
        #expect(folding.take("c2", key: "c", at: start + .milliseconds(1_002)).isEmpty)
        #expect(texts(folding.flushAll()) == ["c2"])
    }

    @Test("The number of remembered kinds is bounded, and no line is lost")
    func bounded() {
        var folding = LogFolding<Int, Int>()
        var count = 0
        for round in 0..<3 {
            for index in 0..<2_000 {
                let now = start + .milliseconds(Int64(round))
                count += folding.take(index, key: index, at: now).reduce(0) { $0 + $1.count }
            }
        }
        count += folding.flushAll().reduce(0) { $0 + $1.count }
        #expect(count == 6_000)
    }

    @Test("Lines that differ in numbers repeat; in a name, or in a number that identifies, they do not")
    func keys() {
        func key(_ metadata: Logger.Metadata, _ message: String = "m") -> LogLineKey {
            LogLineKey(label: "l", level: .debug, message: message, metadata: [["channel.number": "1"], metadata])
        }
        #expect(key(["play.pts": "5", "play.track": "video"]) == key(["play.pts": "-6.5", "play.track": "video"]))
        #expect(key(["play.track": "video"]) != key(["play.track": "audio"]))
        #expect(key([:]) != key(["channel.number": "2"]) && key([:]) != key([:], "n"))
    }
}
