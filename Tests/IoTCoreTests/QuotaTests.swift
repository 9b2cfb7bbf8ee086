import IoTCore
import Testing

@Suite struct QuotaTests {
    private let guest = AccountHolder.account(AccessID(rawValue: "guest")!)

    private func account(_ number: Int) -> AccountHolder { .account(AccessID(rawValue: "a\(number)")!) }

    @Test("A holder gets its share and no more, and other holders are not affected")
    func each() throws {
        var quota = Quota<AccountHolder>(QuotaBound(total: 10, each: 3, reserve: 2))
        for _ in 0..<3 { try quota.take(for: guest) }
        for _ in 0..<100 { #expect(throws: Quota<AccountHolder>.Refusal.each(3)) { try quota.take(for: guest) } }
        #expect(quota.held(by: guest) == 3)
        #expect(quota.refusals == 100)
        try quota.take(for: account(1))
        quota.giveBack(guest)
        try quota.take(for: guest)
        #expect(quota.used == 4)
    }

    @Test("Only privileged holders get the reserve, and their use does not reduce the share of others")
    func reserve() throws {
        var quota = Quota<AccountHolder>(QuotaBound(total: 10, each: 3, reserve: 2))
        for number in 0..<8 { try quota.take(for: account(number)) }
        #expect(throws: Quota<AccountHolder>.Refusal.total(8)) { try quota.take(for: account(9)) }
        try quota.take(for: .owner)
        try quota.take(for: .owner)
        #expect(throws: Quota<AccountHolder>.Refusal.total(10)) { try quota.take(for: .owner) }
        quota.giveBack(account(0))
        try quota.take(for: account(9))

        var other = Quota<AccountHolder>(QuotaBound(total: 10, each: 3, reserve: 2))
        for _ in 0..<2 { try other.take(for: .owner) }
        for number in 0..<8 { try other.take(for: account(number)) }
        #expect(other.used == 10)
    }

    @Test("Only what was taken can be given back, and a smaller bound takes nothing away")
    func edges() throws {
        var quota = Quota<AccountHolder>(QuotaBound(total: 4, each: 4))
        quota.giveBack(guest)
        #expect(quota.used == 0)
        for _ in 0..<4 { try quota.take(for: guest) }
        quota.bound.total = 2
        #expect(quota.held(by: guest) == 4)
        #expect(throws: Quota<AccountHolder>.Refusal.total(2)) { try quota.take(for: account(1)) }
        quota.giveBackAll()
        #expect(quota.used == 0 && quota.held(by: guest) == 0)
        try quota.take(for: guest)
    }
}
