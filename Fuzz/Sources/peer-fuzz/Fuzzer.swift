#if canImport(Glibc)
    import Glibc
#endif

/// The target that `FUZZ_TARGET` names.
private let target: FuzzTarget = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        fatalError("FUZZ_TARGET must be one of \(FuzzTarget.all.map(\.name).joined(separator: " "))")
    }
    return target
}()

/// libFuzzer calls this with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let choice = ReadingCost.choice(of: input)
    do {
        try target.check(input)
        // Only some inputs, because a long input costs a thousand times as much as a short one.
        if choice % 32 == 0 { try target.cost?.check(input, choice: choice) }
    } catch {
        fatalError("\(target.name): \(error)")
    }
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// SwiftPM renames the program's `main` to this; it calls libFuzzer's.
@_cdecl("peer_fuzz_main")
public func fuzzMain(_ count: CInt, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments, testOneInput)
}
