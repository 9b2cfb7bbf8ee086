import IoTCore
import TestSupport
import Testing
import ThingModel

/// Compares random mutations of a document with a model that is simple enough to be obviously correct.
@Suite struct ThingDocumentPropertyTests {
    /// The simple model: the values at some paths, and each object's version.
    private struct Shadow {
        var begin: Int64 = 0
        var desc = ""
        var mode: Int64 = 0
        var viewers: Int64 = 0
        var notes: [String: JSONValue] = [:]
        var versions: [String: Int64] = [
            "ProWritable.recordPlan": 1, "ProWritable._otaMode": 1, "ProReadonly.cameraOn": 1,
        ]
        var version: Int64 = 1

        mutating func changed(_ object: String) {
            version += 1
            versions[object] = version
        }
    }

    private static let names = ["a", "b", "c"]

    /// Applies one random mutation to both. They must agree on whether it succeeds, and on the conflict if it does not.
    private func mutate(
        _ document: inout ThingDocument, _ shadow: inout Shadow, _ random: inout SeededGenerator, at t: Int64
    ) -> PropertyChange? {
        let number = Int64.random(in: -3...3, using: &random)
        let name = Self.names.randomElement(using: &random) ?? "a"
        let kind = Int.random(in: 0..<7, using: &random)
        let object =
            switch kind {
            case 0, 1: "ProWritable.recordPlan"
            case 2: "ProWritable._otaMode"
            case 3: "ProReadonly.cameraOn"
            default: "ProUser.\(name)"
            }
        let current = shadow.versions[object] ?? 0
        // One third is unconditional, one third has the right version, one third has a stale version.
        let ifVersion: Int64? = [nil, current, max(0, current - 1)].randomElement(using: &random) ?? nil
        let isStale = kind != 3 && ifVersion.map { $0 != current } ?? false
        do throws(IoTError) {
            let change: PropertyChange
            switch kind {
            case 0:
                change = try document.write(
                    "ProWritable.recordPlan.setVal.timeSection1.begin", .integer(number), at: t, ifVersion: ifVersion)
                shadow.begin = number
            case 1:
                change = try document.write(
                    "ProWritable.recordPlan.setVal.timeSection1.desc", .string("\(number)"), at: t,
                    ifVersion: ifVersion)
                shadow.desc = "\(number)"
            case 2:
                change = try document.write(
                    "ProWritable._otaMode", ["setVal": .integer(number)], at: t, ifVersion: ifVersion)
                shadow.mode = number
            case 3:
                change = try document.report("ProReadonly.cameraOn.stVal", .integer(number), at: t)
                shadow.viewers = number
            case 4:
                change = try document.addUserProperty(name, ["n": .integer(number)], at: t, ifVersion: ifVersion)
                shadow.notes[name] = ["n": .integer(number)]
            case 5:
                change = try document.write(
                    "ProUser.\(name).val.m", .integer(number), at: t, ifVersion: ifVersion)
                #expect(shadow.notes[name] != nil)
                shadow.notes[name]?["m"] = .integer(number)
            default:
                change = try document.deleteUserProperty(name, ifVersion: ifVersion)
                #expect(shadow.notes.removeValue(forKey: name) != nil)
            }
            #expect(!isStale, "a stale write must fail")
            shadow.changed(object)
            if kind == 6 { shadow.versions[object] = nil }
            #expect(change.version == shadow.version)
            #expect(change.path == object)
            return change
        } catch {
            if let conflict = error.versionConflict {
                #expect(isStale)
                #expect(conflict.version == current)
                let current = (try? document.read(conflict.path))?.value ?? .null
                #expect(conflict.value == current)
            } else {
                #expect(error.code == .pathInvalid)
                #expect(kind >= 5 && shadow.notes[name] == nil)
            }
            return nil
        }
    }

    @Test(
        "After random writes, reports and deletions the document has the values and versions of a simple model",
        arguments: 1...40 as ClosedRange<UInt64>)
    func agrees(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var document = try sampleDocument()
        var shadow = Shadow()
        for t in 1...300 as ClosedRange<Int64> {
            let before = document
            guard let change = mutate(&document, &shadow, &random, at: t) else {
                #expect(document == before, "a failed mutation changes nothing")
                continue
            }
            // The leaves, applied to the object before the change, give the object after it.
            var rebuilt = change.previous
            for leaf in change.leaves { rebuilt = apply(leaf, to: rebuilt, of: change.path) }
            #expect((rebuilt ?? .null) == change.value, "seed \(seed) t \(t)")
        }
        #expect(document.version == shadow.version)
        let section = try document.read("ProWritable.recordPlan.setVal.timeSection1")
        #expect(section.value["begin"] == .integer(shadow.begin))
        #expect(section.value["desc"] == .string(shadow.desc))
        #expect(try document.read("ProWritable._otaMode.setVal").value == .integer(shadow.mode))
        #expect(try document.read("ProReadonly.cameraOn.stVal").value == .integer(shadow.viewers))
        for (path, version) in shadow.versions { #expect(try document.read(path).version == version) }
        for name in Self.names { #expect((try? document.read("ProUser.\(name).val").value) == shadow.notes[name]) }
        // The stored document is equal.
        let stored = try ThingDocument(
            schema: document.schema, version: document.version, properties: document.storedProperties)
        #expect(stored == document)
    }

    private func apply(_ leaf: LeafChange, to object: JSONValue?, of path: String) -> JSONValue? {
        guard leaf.path != path else { return leaf.value }
        let members = leaf.path.dropFirst(path.count + 1).split(separator: ".").map(String.init)
        return set(object ?? [:], members[...], leaf.value)
    }

    private func set(_ object: JSONValue, _ members: ArraySlice<String>, _ value: JSONValue?) -> JSONValue {
        guard let first = members.first else { return object }
        var object = object.objectValue == nil ? [:] : object
        object[first] = members.count == 1 ? value : set(object[first] ?? [:], members.dropFirst(), value)
        return object
    }

    @Test(
        "A new schema keeps every value that it allows and lists every other one",
        arguments: 1...40 as ClosedRange<UInt64>)
    func schemaChanges(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = ["p", "q", "r", "s"]
        func schema() throws -> ThingSchema {
            var properties: [PropertySchema] = []
            for name in names where Bool.random(using: &random) || Bool.random(using: &random) {
                let value: ValueSchema =
                    Bool.random(using: &random)
                    ? .int32(0...Int32.random(in: 1...9, using: &random))
                    : .string(Int.random(in: 1...4, using: &random))
                properties.append(.writable(name, value))
            }
            return try ThingSchema(properties)
        }
        var document = ThingDocument(schema: try schema())
        for t in 1...60 as ClosedRange<Int64> {
            for property in document.schema.properties(of: .writable) where names.contains(property.name) {
                let value: JSONValue =
                    property.value.type.name == "int32"
                    ? .integer(Int64(property.value.maximum ?? 0)) : .string(String(repeating: "x", count: 1))
                _ = try document.write("ProWritable.\(property.name).setVal", value, at: t)
            }
            let old = document
            let next = try schema()
            let dropped = Set(try document.adopt(next).dropped.map(\.path))
            for name in names {
                let path = "ProWritable.\(name).setVal"
                guard let value = try? old.read(path).value else { continue }
                let fits = next[.writable, name].map { (try? $0.value.validate(value, at: path)) != nil } ?? false
                #expect(dropped.contains(path) == !fits)
                if fits { #expect(try document.read(path).value == value) }
            }
        }
    }
}
