import NIOCore
import NIOEmbedded
import NIOHTTP1

// The daemon is a program, and its gateway is not a product: another package cannot import them, so Fuzz compiles these
// sources itself.
#if canImport(iotvideod)
    import Gateway
    @testable import iotvideod
#endif

extension FuzzTarget {
    /// A head that the guard accepts is ASCII with one host, and the same however the bytes are cut; the cost before
    /// authentication is linear in its length.
    static let http = FuzzTarget(
        "http",
        cost: ReadingCost { input in
            for head in HTTPHeads(input, cuts: []).heads { readAsStranger(head) }
        }
    ) { input in
        let whole = HTTPHeads(input, cuts: [])
        for head in whole.heads {
            try require(head.uri.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a target that is not ASCII")
            let fields = head.headers.map { ($0.name, $0.value) }
            try require(fields.allSatisfy { ($0.0 + $0.1).utf8.allSatisfy { $0 < 0x80 } }, "a field that is not ASCII")
            try require(fields.count { $0.0.lowercased() == "host" } == 1 || head.version.minor == 0, "not one host")
            let codings = fields.filter { $0.0.lowercased() == "transfer-encoding" }
            try require(codings.allSatisfy { $0.1.lowercased() == "chunked" }, "an unknown coding")
            readAsStranger(head)
        }
        let cut = HTTPHeads(input, cuts: [input.count / 3, input.count / 2])
        try require(cut.heads == whole.heads, "cut it is \(cut.heads), whole \(whole.heads)")
        try require(cut.hasFailed == whole.hasFailed, "cut it is \(whole.hasFailed ? "no failure" : "a failure")")
    }

    private static func readAsStranger(_ head: HTTPRequestHead) {
        let access = APIAccess(names: ["box.example"], allowedOrigins: ["https://page.example"])
        let host = head.headers["host"].first
        try? access.checkHost(host)
        _ = try? access.checkOrigin(head.headers["origin"].first, host: host, isEncrypted: false)
        for field in head.headers["authorization"] { _ = BearerToken(field.utf8.dropFirst(7)) }
    }
}

/// The heads that the API's port reads from these bytes, up to the guard.
private struct HTTPHeads {
    private(set) var heads: [HTTPRequestHead] = []
    private(set) var hasFailed = false

    /// - Parameter cuts: Where the bytes are cut into several reads.
    init(_ input: [UInt8], cuts: [Int]) {
        let channel = EmbeddedChannel()
        let limits = APILimits()
        var bounds = NIOHTTPDecoderLimitConfiguration()
        bounds.maxHeaderFieldSize = limits.headerFieldSize
        bounds.maxHeaderListSize = limits.headerListSize
        bounds.maxHeaderFieldCount = limits.headerFieldCount
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: bounds)
        let pipeline = channel.pipeline.syncOperations
        try? pipeline.addHandlers([ByteToMessageHandler(decoder), HeadGuard(needsHost: true)])
        var start = 0
        for end in cuts + [input.count] where end > start && !hasFailed {
            do {
                try channel.writeInbound(ByteBuffer(bytes: input[start..<end]))
            } catch {
                hasFailed = true
            }
            start = end
        }
        while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
            if case .head(let head) = part { heads.append(head) }
        }
        // An end in the middle of a request is not a failure of the bytes.
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }
}
