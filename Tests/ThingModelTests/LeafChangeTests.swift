import IoTCore
import Testing
import ThingModel

@Suite struct LeafChangeTests {
    private func leaves(_ old: JSONValue?, _ new: JSONValue) -> [LeafChange] {
        PropertyChange(path: "ProUser.x", value: new, version: 2, previous: old).leaves
    }

    @Test("Only the leaves that differ are listed, at any depth")
    func deep() {
        #expect(
            leaves(
                ["val": ["a": 1, "b": ["c": 2, "d": 3]], "t": 1], ["val": ["a": 1, "b": ["c": 4, "d": 3]], "t": 1])
                == [LeafChange(path: "ProUser.x.val.b.c", value: 4)])
        #expect(leaves(["val": 1, "t": 1], ["val": 1, "t": 1]) == [])
    }

    @Test("A new object lists all its leaves; a deleted object is one change")
    func wholes() {
        #expect(
            leaves(nil, ["val": ["a": 1], "t": 5])
                == [LeafChange(path: "ProUser.x.t", value: 5), LeafChange(path: "ProUser.x.val.a", value: 1)])
        #expect(leaves(["val": 1, "t": 5], .null) == [LeafChange(path: "ProUser.x", value: nil)])
        #expect(LeafChange(path: "p", value: nil).json == ["path": "p"])
        #expect(LeafChange(path: "p", value: .null).json == ["path": "p", "value": .null])
    }

    @Test("Lists, and objects with names that a path cannot contain, are leaves")
    func opaque() {
        #expect(leaves(["val": [1, 2]], ["val": [1, 3]]) == [LeafChange(path: "ProUser.x.val", value: [1, 3])])
        for name in ["a.b", "", String(repeating: "n", count: 65)] {
            let old = JSONValue.object(["val": .object([name: 1, "c": 1])])
            let new = JSONValue.object(["val": .object([name: 2, "c": 1])])
            #expect(leaves(old, new) == [LeafChange(path: "ProUser.x.val", value: new["val"])])
        }
        #expect(leaves(["val": ["a": 1]], ["val": [:]]) == [LeafChange(path: "ProUser.x.val", value: [:])])
    }
}
