import IoTCore
import IoTLink
import NIOCore
import Testing
import ThingModel

@testable import LinkHub

@Suite("Leaf changes, bulk reads, export, and lost settings")
struct HubCoreBulkTests {
    private func updates(_ sent: [Sent], to address: LinkAddress) -> [JSONValue] {
        sent.compactMap { sent in
            guard sent.address == address, case .push(let push) = sent.envelope, push.method == "property.update"
            else { return nil }
            return push.params
        }
    }

    @Test("A push names the leaves that changed since the last push, and no others")
    func leaves() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let write: JSONValue = ["device": "front", "path": "ProWritable.quality.setVal", "value": 5]
        let sent = try hub.sendRequest(hub.owner, "property.write", write)
        let changes = try #require(updates(sent, to: hub.guest).first?["changes"])
        #expect(
            changes == [
                ["path": "ProWritable.quality.setVal", "value": 5],
                ["path": "ProWritable.quality.t", "value": .integer(hub.time.seconds)],
            ])
        // The same write in the same second leaves the object as it was.
        let same = try hub.sendRequest(hub.owner, "property.write", write)
        #expect(updates(same, to: hub.guest).first?["changes"] == [])
        _ = try hub.request(
            hub.owner, "userProperty.add", ["device": "front", "name": "note", "value": ["a": 1, "b": [1]]])
        hub.advance(.seconds(1))
        let deeper = try hub.sendRequest(
            hub.owner, "property.write", ["device": "front", "path": "ProUser.note.val", "value": ["a": 2]])
        #expect(
            updates(deeper, to: hub.owner).first?["changes"] == [
                ["path": "ProUser.note.t", "value": .integer(hub.time.seconds)],
                ["path": "ProUser.note.val.a", "value": 2], ["path": "ProUser.note.val.b"],
            ])
    }

    @Test("Two writes in one transaction are one notice, compared with what users last received")
    func mergedLeaves() throws {
        var notices = PropertyNotices()
        let device = DeviceID.random()
        for (old, new) in [(1, 2), (2, 3)] as [(Int64, Int64)] {
            notices.add(
                PropertyNotice(
                    device: device,
                    change: PropertyChange(
                        path: "ProReadonly.x", value: ["stVal": .integer(new), "t": 0], version: new,
                        previous: ["stVal": .integer(old), "t": 0])))
        }
        #expect(notices.take().map(\.change.leaves) == [[LeafChange(path: "ProReadonly.x.stVal", value: 3)]])
    }

    @Test("A value near the size limit is still pushed, without its leaves")
    func largeUpdate() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let text = JSONValue.string(String(repeating: "x", count: 200_000))
        let sent = try hub.sendRequest(
            hub.owner, "userProperty.add", ["device": "front", "name": "large", "value": text])
        let update = try #require(updates(sent, to: hub.guest).first)
        #expect(update["value"]?["val"] == text)
        #expect(update["changes"] == nil)
    }

    @Test("Many devices are read at once, each with its value or an error")
    func readMany() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let all = try hub.request(hub.guest, "property.readMany", ["path": "ProReadonly._online.stVal"])
        let reading = try #require(all?.result["readings"]?.arrayValue?.first)
        #expect(reading["device"] == .string(hub.front.rawValue))
        #expect(reading["name"] == "front")
        #expect(reading["value"] == 1)
        #expect(reading["version"]?.integerValue != nil)
        let some = try hub.request(
            hub.owner, "property.readMany",
            ["path": "ProReadonly.viewers.stVal", "devices": ["front", .string(hub.back.rawValue), "none"]])
        let codes = some?.result["readings"]?.arrayValue?.map { $0["code"]?.integerValue }
        #expect(codes == [nil, 8003, 8002])
        let lost = try hub.request(hub.owner, "property.readMany", ["path": "ProReadonly.none.stVal"])
        #expect(lost?.result["readings"]?.arrayValue?.first?["code"] == 20101)
        #expect(try hub.request(hub.stranger, "property.readMany", ["path": ""])?.result["readings"] == [])
        #expect(try hub.request(hub.owner, "property.readMany", ["path": "No.such"])?.code == .pathInvalid)

        try hub.core.bind(hub.owner.principal.accessID!, hub.back, .owner, at: hub.time)
        let away = try hub.request(hub.owner, "property.readMany", ["path": "", "devices": ["back"]])
        let refused = try #require(try ModelMethod.readMany.result(away?.result ?? .null).readings.first)
        #expect(refused.error?.code == .deviceOffline)
        #expect(refused.error?.remedy == "switch it on once")
    }

    @Test("Readings that do not fit into the answer must be requested again")
    func readManyLarge() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let owner = hub.owner.principal.accessID!
        let text = JSONValue.string(String(repeating: "x", count: 100_000))
        for name in ["a", "b", "c", "d"] {
            let device = try hub.core.addDevice(named: name)
            try hub.core.bind(owner, device, .owner, at: hub.time)
            let address = LinkAddress.random(.device(device))
            _ = try hub.request(address, "session.begin")
            _ = try hub.request(address, "model.login", try ModelLogin.sample().json)
            _ = try hub.request(
                hub.owner, "userProperty.add", ["device": .string(name), "name": "large", "value": text])
        }
        let reply = try hub.request(
            hub.owner, "property.readMany", ["path": "ProUser.large.val", "devices": ["a", "b", "c", "d"]])
        let codes = reply?.result["readings"]?.arrayValue?.map { $0["code"]?.integerValue }
        #expect(codes == [nil, nil] && reply?.result["more"] == true)
        let rest = try hub.request(
            hub.owner, "property.readMany", ["path": "ProUser.large.val", "devices": ["c", "d"]])
        #expect(rest?.result["readings"]?.arrayValue?.count == 2 && rest?.result["more"] == false)
    }

    @Test("Two thousand devices are each read once, even if none can be read, in answers that fit")
    func readManyDevices() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let owner = hub.owner.principal.accessID!
        for number in 0..<2_000 {
            let name = "\(number)-" + String(repeating: "x", count: 64 - "\(number)-".count)
            try hub.core.bind(owner, try hub.core.addDevice(named: name), .owner, at: hub.time)
        }
        for path in ["", "ProUser." + String(repeating: "n", count: 400)] {
            var names: [String] = []
            var params: JSONValue = ["path": .string(path)]
            var isMore = true
            while isMore, names.count < 10_000 {
                let page = try #require(try hub.request(hub.owner, "property.readMany", params))
                #expect(page.code == .success)
                let readings = try #require(page.result["readings"]?.arrayValue)
                names += readings.compactMap { $0["name"]?.stringValue }
                isMore = page.result["more"] == true
                params["after"] = .string(names.last ?? "")
            }
            #expect(names.count >= 2_000 && names == Set(names).sorted())
        }
    }

    @Test("An export contains the schema, the model and each object's version")
    func export() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let exported = try #require(try hub.request(hub.guest, "device.export", ["device": "front"])?.result)
        let shown = try #require(try hub.request(hub.guest, "device.show", ["device": "front"])?.result)
        #expect(exported["model"] == shown["model"])
        #expect(exported["name"] == "front")
        let schema = try ThingSchema(vendorForm: try #require(exported["schema"]))
        #expect(schema == (try .sample()))
        #expect(exported["versions"]?["ProWritable.quality"] == 1)
        #expect(try hub.request(hub.stranger, "device.export", ["device": "front"])?.code == .targetNotFound)
    }

    @Test("New firmware keeps the settings that fit; an event names the others and the reasons")
    func schemaChange() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        for (name, value) in [("quality", 500), ("volume", 7)] as [(String, JSONValue)] {
            let path = JSONValue.string("ProWritable.\(name).setVal")
            _ = try hub.request(hub.owner, "property.write", ["device": "front", "path": path, "value": value])
        }
        let narrower = try ThingSchema([
            .writable("quality", .int32(0...100)), .writable("volume", .int32(0...1_000_000)),
        ])
        let login = ModelLogin(schema: narrower, constants: [:], readonly: [:], writableVersions: [:])
        let sent = try hub.sendRequest(hub.camera, "model.login", login.json)
        let events = sent.compactMap { sent -> ThingEvent? in
            guard case .push(let push) = sent.envelope, sent.address == hub.guest else { return nil }
            return EventMethod.event.parameters(of: push)
        }
        #expect(events.map(\.topic) == ["EVENT_SYS/SchemaChanged"])
        let dropped = try #require(events.first?.body["dropped"]?.arrayValue)
        #expect(dropped.map { $0["path"] } == ["ProWritable.quality.setVal"])
        #expect(dropped.first?["reason"]?.stringValue?.contains("from 0 to 100 (int32), not 500") == true)
        func read(_ path: String) throws -> JSONValue? {
            try hub.request(hub.owner, "property.read", ["device": "front", "path": .string(path)])?.result["value"]
        }
        #expect(try read("ProWritable.volume.setVal") == 7)
        #expect(try read("ProWritable.quality.setVal") == 0)
        #expect(hub.stored.contains { if case .addEvent = $0 { true } else { false } })
        // The same firmware again changes nothing.
        let again = try hub.sendRequest(hub.camera, "model.login", login.json)
        #expect(!again.contains { $0.pushMethod == "device.event" })
    }
}
