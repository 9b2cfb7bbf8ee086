import IoTCore
import Testing

@testable import IoTLink

@Suite("Principals and topics")
struct LinkAddressTests {
    let session = "00112233445566778899aabbccddeeff"
    let device = "ffeeddccbbaa99887766554433221100"

    @Test("Topics of a user and of a device")
    func topics() throws {
        let owner = try #require(Principal("u/owner"))
        let user = try #require(LinkAddress(principal: owner, session: session))
        #expect(user.upTopic == "iotlink/1/up/u/owner/00112233445566778899aabbccddeeff")
        #expect(user.downTopic == "iotlink/1/down/u/owner/00112233445566778899aabbccddeeff")
        let front = try #require(Principal("d/\(device)"))
        let camera = try #require(LinkAddress(principal: front, session: session))
        #expect(camera.upTopic == "iotlink/1/up/d/\(device)/\(session)")
        for address in [user, camera] {
            let (read, direction) = try #require(LinkAddress.parse(topic: address.upTopic))
            #expect(read == address)
            #expect(direction == .up)
            #expect(LinkAddress.parse(topic: address.downTopic)?.direction == .down)
        }
    }

    @Test("A topic that is not the link's is not an address")
    func foreignTopics() {
        for topic in [
            "", "iotlink/1/up/u/owner", "iotlink/2/up/u/owner/\(session)", "iotlink/1/up/u/owner/\(session)/x",
            "iotlink/1/side/u/owner/\(session)", "iotlink/1/up/x/owner/\(session)", "iotlink/1/up/u/Owner/\(session)",
            "iotlink/1/up/d/owner/\(session)", "iotlink/1/up/u/owner/short", "iotlink/1/up/u/+/\(session)",
            "/iotlink/1/up/u/owner/\(session)", "iotlink/1/up/u//\(session)",
        ] {
            #expect(LinkAddress.parse(topic: topic) == nil, "\(topic)")
        }
    }

    @Test("A principal's text is its kind and its id, both validated")
    func principals() throws {
        #expect(Principal("u/a_b-9")?.accessID?.rawValue == "a_b-9")
        #expect(Principal("d/\(device)")?.deviceID?.rawValue == device)
        #expect(Principal("d/\(device)")?.description == "d/\(device)")
        for text in ["", "u", "u/", "/owner", "x/owner", "u/o/p", "u/Ä", "d/owner", "d/\(device)0", "u/#"] {
            #expect(Principal(text) == nil, "\(text)")
        }
    }

    @Test("Session ids and request ids are 128 random bits")
    func randomIDs() throws {
        let principal = try #require(Principal("u/owner"))
        #expect(Set((0..<1000).map { _ in LinkAddress.random(principal).session }).count == 1000)
        #expect(Set((0..<1000).map { _ in RequestID.random() }).count == 1000)
        #expect(RequestID.random().utf8.count == 32)
    }
}
