import Hummingbird
import IoTCore
import Testing

@testable import Gateway
@testable import iotvideod

/// Uploads and downloads of a release's file over HTTP.
@Suite struct ReleaseFileTests {
    private static let path = "/v1/firmware/releases/1/file"

    private func put(
        _ body: String, _ range: String?, type: String = "application/octet-stream"
    ) async throws -> (status: Int, code: Int, calls: [String]) {
        let fixture = RouterFixture()
        let answer = try await fixture.ask(
            "PUT", Self.path, token: RouterFixture.administrator, body: body, type: type,
            headers: ["Host": "127.0.0.1"].merging(range.map { ["Content-Range": $0] } ?? [:]) { $1 })
        return (answer.status, answer.code, fixture.gateway.calls.map(\.name))
    }

    @Test("Content-Range says where a part belongs; without it the body is the whole file")
    func parts() async throws {
        #expect(try await put("abc", "bytes 7-9/10").calls == ["7+3/10"])
        #expect(try await put("abc", "bytes 7-9/*").calls == ["7+3/*"])
        #expect(try await put("abc", nil).calls == ["0+3/3"])
    }

    @Test(
        "A range that does not fit the body, or is none, is refused before anything is written",
        arguments: [
            "bytes 7-8/10", "bytes 9-7/10", "bytes 8-10/10", "bytes */10", "7-9/10", "bytes 7-9", "bytes 7-9/ 10",
            "bytes 9999999999999999999-9999999999999999999/10", "items 7-9/10",
        ])
    func malformed(range: String) async throws {
        let answer = try await put("abc", range)
        #expect(answer.status == 422 && answer.code == 20102 && answer.calls.isEmpty)
    }

    @Test("Another type is refused, and a part that is too large")
    func refused() async throws {
        #expect(try await put("abc", nil, type: "application/json").status == 415)
        let large = String(repeating: "a", count: APIRequest.maximumBodySize + 1)
        #expect(try await put(large, nil).status == 413)
    }

    @Test("A download is whole, or the wanted part")
    func download() async throws {
        let fixture = RouterFixture()
        let whole = try await fixture.ask("GET", Self.path, token: RouterFixture.member)
        #expect(whole.status == 200 && whole.body == "0123456789")
        #expect(whole.headers[.contentType] == "application/octet-stream" && whole.headers[.eTag] == "\"00\"")
        let part = try await fixture.ask(
            "GET", Self.path, token: RouterFixture.member,
            headers: ["Host": "127.0.0.1", "Range": "bytes=4-", "If-Range": "\"00\""])
        #expect(part.status == 206 && part.body == "456789")
        #expect(part.headers[.contentRange] == "bytes 4-9/10")
        let other = try await fixture.ask(
            "GET", Self.path, token: RouterFixture.member,
            headers: ["Host": "127.0.0.1", "Range": "bytes=4-", "If-Range": "\"01\""])
        #expect(other.status == 200)
    }

    @Test("A version or a language that is none is refused")
    func query() async throws {
        for query in ["currentVersion=1.2", "language=e", "currentVersion=", "language=a_b"] {
            let fixture = RouterFixture()
            let answer = try await fixture.ask(
                "GET", "/v1/devices/d/firmware?\(query)", token: RouterFixture.member)
            #expect(answer.status == 422 && fixture.gateway.calls.isEmpty, "\(query)")
        }
    }
}
