import IoTCore
import Testing

@testable import RecordingStore

@Suite struct StoredPlanTests {
    @Test("Each camera's recording plan is stored, the newest one")
    func plans() throws {
        let index = try RecordingIndex.sample()
        #expect(try index.plan(of: .front) == nil)
        for plan: JSONValue in [["timeSection1": ["enable": 1]], [:]] {
            try index.commit([.plan(.front, plan.jsonText)])
            #expect(try index.plan(of: .front) == plan)
        }
        #expect(try index.plan(of: .yard) == nil)
    }
}
