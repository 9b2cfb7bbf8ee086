import Foundation
import GatewayAPI
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

    @Test("docs/openapi.yaml contains exactly the router's routes, with their query items")
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

    @Test("No schema has a name that a generated client makes of an operation's (typescript-fetch: OperationRequest)")
    func names() throws {
        let root = try document().root
        let schemas = try #require(root["components"]?["schemas"]?.mapping).keys.compactMap(\.string)
        for (path, item) in try #require(root["paths"]?.mapping) {
            for operation in try #require(item.mapping).values {
                guard let name = operation["operationId"]?.string else { continue }
                #expect(!schemas.contains(name.prefix(1).uppercased() + name.dropFirst() + "Request"), "\(path)")
            }
        }
    }

    @Test("The document marks the operations that a media key opens")
    func keys() throws {
        var documented: Set<String> = []
        for (path, item) in try #require(try document().root["paths"]?.mapping) {
            for (method, operation) in try #require(item.mapping) where method.string != "parameters" {
                let ways = operation["security"]?.sequence?.compactMap { $0.mapping?.keys.first?.string } ?? []
                if ways.contains("key") { documented.insert("\(method.string!.uppercased()) \(path.string!)") }
            }
        }
        #expect(documented == RouteRights.openToKeys)
    }

    @Test("Every creating operation takes an idempotency key, which this gateway or the hub remembers")
    func idempotencyKeys() throws {
        let root = try document().root
        var made: Set<String> = []
        for (path, item) in try #require(root["paths"]?.mapping) {
            guard let operation = item["post"], let responses = operation["responses"]?.mapping,
                responses.keys.contains(where: { $0.string == "201" })
            else { continue }
            let parameters = operation["parameters"]?.sequence.map(Array.init) ?? []
            let names = try parameters.map { try resolve($0, in: root)["name"]?.string }
            #expect(names.contains("Idempotency-Key"), "\(path.string ?? "")")
            made.insert(path.string ?? "")
        }
        // The hub remembers the requests that it executes.
        let byHub: Set = [
            "/v1/users", "/v1/users/temporary", "/v1/tokens", "/v1/keys", "/v1/devices", "/v1/devices/{device}/share",
            "/v1/net/tokens", "/v1/firmware/releases",
        ]
        #expect(made.subtracting(byHub) == Set(APIRoutes.all.filter(\.makes).map(\.path)))
    }

    @Test("Errors are listed by status class: a client generated from 'default' reads every body as an error")
    func errorResponses() throws {
        for (path, item) in try #require(try document().root["paths"]?.mapping) {
            for (method, operation) in try #require(item.mapping) where method.string != "parameters" {
                let responses = try #require(operation["responses"]?.mapping)
                let names = Set(responses.keys.compactMap(\.string))
                #expect(
                    names.isSuperset(of: ["4XX", "5XX"]) && !names.contains("default"),
                    "\(method.string ?? "") \(path.string ?? "")")
            }
        }
    }

    @Test("Every reference inside the document has a target")
    func references() throws {
        let (text, root) = try document()
        for match in text.matches(of: #/\$ref: "([^"]*)"/#) {
            _ = try resolve(try Node(["$ref": String(match.output.1)]), in: root)
        }
    }

    @Test(
        "A camera's URL matches the document's pattern if the daemon accepts it",
        arguments: [
            "rtsp://192.0.2.7/stream1", "RTSP://192.0.2.7:554",
            "rtsp://Door.example.net:10554/live?channel=1&subtype=0",
            "rtsp://cam_1-a:8554/Streaming/Channels/101", "rtsp://[2001:db8::7]:554/x", "rtsp://u%40a@192.0.2.7/x",
            "rtsp://h:65535/x", "rtsp://h:00554/x", "rtsp://h:1",
            "rtsp://u@h/a b;c=1/~x!", "rtsp://h/ü", "rtsp://h?x", "rtsp://h/%zz", "/clips/a.mp4", "/a b/ü:c.mp4",
            "file:///a.mp4", "file:/a.mp4", "FILE://localhost/a.mp4",
            "v4l2:/dev/video0", "V4L2:/dev/v4l/by-path/pci-0000:00:14.0-usb-0:1:1.0-video-index0", "/dev/v4l",
            "/video0",
            // Refused by both the pattern and the daemon.
            "", "a.mp4", "http://h/x", "rtsp://", "rtsp://h:ab/x", "rtsp:///x", "rtsp://h/a\nb", "/a\nb", "/\u{9B}31m",
            "rtsp://h/\u{85}x", "/\u{7F}",
            "/dev/video0", "/dev/v4l/by-id/x", "file:///dev/video0", "FILE://localhost/dev/v4l/by-id/x",
            "file:/dev/video0", "v4l2:video0", "v4l2:", "v4l2://dev/video0", "v4l2:/dev/a\nb", "v4l2:/dev/\u{9B}",
            "file://h/a.mp4", "exec:x", "rtsp://h h/x", "rtsp://u:p@h/x", "rtsp://u:p%40q@192.0.2.7/x", "rtsp://u:@h/x",
            "rtsp://:p@h/x", "rtsp://h:65536/x", "rtsp://h:99999/x", "rtsp://h:0/x", "rtsp://h:100554/x",
        ])
    func cameraURLs(url: String) throws {
        let root = try document().root
        let schemas = try #require(root["components"]?["schemas"])
        func matches(_ pattern: String) throws -> Bool {
            let expression = try NSRegularExpression(pattern: pattern)
            return expression.firstMatch(in: url, range: NSRange(url.startIndex..., in: url)) != nil
        }
        let isDescribed = try ["FileURL", "RTSPURL", "V4L2URL"].contains { name in
            let pattern = try #require(schemas[name]?["pattern"]?.string)
            let excluded = schemas[name]?["not"]?["pattern"]?.string
            return try matches(pattern) && !(excluded.map(matches) ?? false)
        }
        let isTaken = (try? CameraSettings(name: "x", url: url).checked()) != nil
        #expect(isDescribed == isTaken)
    }

    @Test(
        "A snapshot's size matches the document's pattern if the daemon accepts it",
        arguments: [
            "15", "16", "99", "100", "999", "1000", "15999", "16000", "16299", "16384", "16385", "17000", "99999",
            "640x360", "640x15", "640x16385", "x640", "640x", "016", "640x360x2", "",
        ])
    func snapshotSizes(size: String) throws {
        let root = try document().root
        let parameters = root["paths"]?["/v1/devices/{device}/snapshot"]?["get"]?["parameters"]
        let pattern = try #require(parameters?[0]?["schema"]?["pattern"]?.string)
        let expression = try NSRegularExpression(pattern: pattern)
        let isDescribed = expression.firstMatch(in: size, range: NSRange(size.startIndex..., in: size)) != nil
        #expect(isDescribed == (PictureBounds(size) != nil))
    }

    @Test("The table of statuses equals the code's")
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
