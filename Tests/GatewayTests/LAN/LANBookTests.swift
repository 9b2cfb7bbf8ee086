import IoTCore
import IoTLink
import Testing
import ThingModel

@testable import Gateway

@Suite struct LANBookTests {
    private func entry(_ name: String) -> LANBook.Entry {
        LANBook.Entry(
            device: .random(), name: name, role: .guest, actions: [.view, .talk],
            place: LANPlace(port: 7_443, addresses: ["192.0.2.7", "2001:db8::7"]), grant: "a.b.c", expires: 5)
    }

    @Test("Entries survive the file, and are found by id and by name")
    func file() throws {
        let (door, yard) = (entry("door"), entry("yard"))
        let book = LANBook([door, yard])
        #expect(LANBook(json: book.json) == book)
        #expect(book["door"] == door && book[yard.device.rawValue] == yard && book["attic"] == nil)
        #expect(book.summaries.map(\.name) == ["door", "yard"])
        #expect(book.summaries.allSatisfy { $0.isLocal && $0.isOnline && $0.actions == [.view, .talk] })
    }

    @Test("A damaged entry is left out, the others stay")
    func damaged() throws {
        let door = entry("door")
        guard case .array(var lines) = LANBook([door]).json else { return }
        var wrong = lines[0]
        wrong["place"] = ["port": 0, "addresses": "192.0.2.7"]
        lines += [wrong, .null, "x", ["device": 3]]
        #expect(LANBook(json: .array(lines)) == LANBook([door]))
        #expect(LANBook(json: "x") == LANBook())
    }

    @Test("Of a place only addresses and a real port are read")
    func place() {
        #expect(LANPlace(LANPlace(port: 1, addresses: ["192.0.2.7"]).value)?.addresses == ["192.0.2.7"])
        for wrong: JSONValue in [
            ["port": 0, "addresses": "192.0.2.7"], ["port": 1, "addresses": ""],
            ["port": 1, "addresses": "evil.example"],
            ["port": 70_000, "addresses": "192.0.2.7"], ["port": 1], "x",
        ] { #expect(LANPlace(wrong) == nil) }
    }

    @Test("Only requests that a device can answer leave the hub's way")
    func routes() {
        for method in ["device.list", "device.show", "property.read", "property.write", "action.take", "call.token"] {
            #expect(LANRoute(method, ["device": "door"]) != nil, "\(method)")
        }
        for method in ["call.connect", "call.control", "call.trickle", "call.end"] {
            #expect(LANRoute(method, ["device": "door", "session": "s"]) != nil, "\(method)")
        }
        for method in ["device.bind", "token.create", "event.list", "userProperty.add", "lan.grant", "message.send"] {
            #expect(LANRoute(method, ["device": "door"]) == nil, "\(method)")
        }
        #expect(LANRoute("device.list", ["user": "bob"]) == nil)
    }
}
