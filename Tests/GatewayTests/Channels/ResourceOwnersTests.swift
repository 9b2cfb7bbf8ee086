import IoTCore
import Testing

@testable import Gateway

@Suite struct ResourceOwnersTests {
    @Test("An account that takes many photos loses only its own oldest ones")
    func bounds() throws {
        let owners = ResourceOwners()
        let guest = try #require(AccessID(rawValue: "guest"))
        let greedy = try (0..<8).map { try #require(AccessID(rawValue: "greedy\($0)")) }
        owners.remember("own", of: guest)
        for account in greedy {
            for number in 0..<400 { owners.remember("\(account)-\(number)", of: account) }
        }
        #expect(owners.owner(of: "own") == guest)
        #expect(owners.owner(of: "greedy0-0") == nil)
        #expect(owners.owner(of: "greedy7-399") == greedy[7])
        let held = greedy.map { account in (0..<400).count { owners.owner(of: "\(account)-\($0)") == account } }
        #expect(held.allSatisfy { $0 <= ResourceOwners.capacityOfAccount })
        #expect(held.reduce(1, +) == ResourceOwners.capacity)
    }
}
