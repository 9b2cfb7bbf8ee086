import Foundation
import Hummingbird
import IoTCore
import Testing
import Yams

@testable import iotvideod

@Suite struct OpenAPITests {
    private func document() throws -> (text: String, root: Node) {
        let text = try String(contentsOf: Repository.file("docs/openapi.yaml"), encoding: .utf8)
        return (text, try #require(try Yams.compose(yaml: text)))
    }

    private func resolve(_ node: Node, in root: Node) throws -> Node {
        guard let reference = node["$ref"]?.string else { return node }
        return try #require(
            reference.split(separator: "/").dropFirst().reduce(Optional(root)) { $0?[String($1)] }, "\(reference)")
    }

    @Test("docs/openapi.yaml has every route of the router with its query, and no other")
    func routes() throws {
        let root = try document().root
        var documented: [String: Set<String>] = [:]
        for (path, item) in try #require(root["paths"]?.mapping) {
            let shared = item["parameters"]?.sequence.map(Array.init) ?? []
            for (method, operation) in try #require(item.mapping) where method.string != "parameters" {
                let parameters = shared + (operation["parameters"]?.sequence.map(Array.init) ?? [])
                let query = try parameters.map { try resolve($0, in: root) }.filter { $0["in"]?.string == "query" }
                let name = "\(method.string?.uppercased() ?? "") \(path.string ?? "")"
                documented[name] = Set(query.compactMap { $0["name"]?.string })
            }
        }
        var served: [String: Set<String>] = [:]
        for route in APIRoutes.all { served["\(route.method.rawValue) \(route.path)"] = route.query }
        #expect(documented == served)
    }

    @Test("Every reference inside the document leads somewhere")
    func references() throws {
        let (text, root) = try document()
        for match in text.matches(of: #/\$ref: "([^"]*)"/#) {
            _ = try resolve(try Node(["$ref": String(match.output.1)]), in: root)
        }
    }

    @Test("The table of statuses is that of the code")
    func statuses() throws {
        let text = try document().text
        var listed: [ErrorCode: Int] = [:]
        for match in text.matches(of: #/\| (\d{3}) \| ([^|]*) \|/#) {
            let status = try #require(Int(match.output.1))
            guard ![405, 412, 415, 428, 500].contains(status) else { continue }
            let codes = match.output.2.split(separator: ", and every")[0]
            for number in codes.split(separator: ", ").compactMap({ Int($0) }) {
                #expect(listed.updateValue(status, forKey: ErrorCode(rawValue: number)) == nil, "\(number) twice")
            }
        }
        #expect(listed.count > 50)
        for entry in ErrorCatalogue.entries {
            let expected = listed[entry.code] ?? ((8000..<21000).contains(entry.code.rawValue) ? 502 : 500)
            #expect(HTTPResponse.Status(entry.code).code == expected, "\(entry.code.rawValue) \(entry.name)")
        }
    }
}
