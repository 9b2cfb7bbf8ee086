import IoTCore
import MediaChannel
import NIOCore
import Testing

@Suite struct TraceTests {
    @Test func trace() {
        var scenario = PlayoutSimulation.Scenario(drift: 0)
        scenario.link = .init(delay: .milliseconds(25), jitter: .milliseconds(30), loss: 0.05, seed: 1)
        let run = PlayoutSimulation.run(scenario)
        for r in run.released where r.isLate { print("TR late", r.kind, r.releasedAt / 1000, "due", r.presentAt / 1000, "cap", r.capture / 1000) }
        var last: Int64 = 0
        for d in run.delays where d.at - last > 500_000 { last = d.at; print("TR delay", d.at / 1000, d.tolerance / 1000) }
        for o in run.outputs { if case .conceal(let d, let at) = o.output { print("TR conceal", o.at / 1000, d, at.uptimeNanoseconds / 1_000_000 - 1_000_000) } }
        for (s, p) in zip(run.skews(), run.shown) where abs(s) > 60_000 { print("TR skew", s, p.presentAt / 1000) }
    }
}
