import Foundation
import Hummingbird
import Testing

@testable import iotvideod

@Suite struct APIDocumentTests {
    private func ask(_ condition: String? = nil) async throws -> RouterFixture.Answer {
        var headers = ["Host": "127.0.0.1"]
        headers["If-None-Match"] = condition
        return try await RouterFixture().ask("GET", "/openapi.yaml", headers: headers)
    }

    @Test("The daemon serves docs/openapi.yaml without authentication")
    func document() async throws {
        let answer = try await ask()
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "application/yaml")
        #expect(answer.body == (try String(contentsOf: Repository.file("docs/openapi.yaml"), encoding: .utf8)))
        #expect(answer.headers[.contentLength] == String(answer.body.utf8.count))
    }

    @Test("A client with a current copy gets 304 without a body")
    func unchanged() async throws {
        let tag = try #require(try await ask().headers[.eTag])
        #expect(tag.wholeMatch(of: #/"[0-9a-f]{16}"/#) != nil)
        for condition in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let answer = try await ask(condition)
            #expect(answer.status == 304 && answer.body.isEmpty && answer.headers[.eTag] == tag, "\(condition)")
        }
        #expect(try await ask("\"other\"").status == 200)
    }
}
