import Foundation
import IoTCore
import Logging
import NIOCore
import NIOPosix
import NetConfig

/// Measures how long a search takes to find each device, for `Benchmarks/discovery.py`: `directory-probe discover`.
///
/// Prints the number of found devices and the time in milliseconds at each change of the number, and `end` after 3 s.
enum DiscoveryProbe {
    static func run() async throws {
        let loops = MultiThreadedEventLoopGroup.singleton
        let services = try await LocalServices(on: loops.next(), logger: Logger(label: "probe"))
        let finders: [any DeviceFinder] = [WSDFinder(loops: loops), services]
        let (sightings, source) = AsyncStream.makeStream(
            of: DeviceSighting.self, bufferingPolicy: .bufferingOldest(DiscoveryTable.capacity))
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withTaskGroup(of: Void.self) { group in
                    for finder in finders {
                        group.addTask { for await sighting in finder.find(for: .seconds(3)) { source.yield(sighting) } }
                    }
                }
                source.finish()
            }
            var (table, count) = (DiscoveryTable(), 0)
            for await case .found(let device) in sightings {
                table.add(device)
                let found = table.devices.count
                // The number falls when two rows are merged into one.
                if found != count { print(found, (ContinuousClock.now - start) / .milliseconds(1)) }
                count = found
            }
        }
        print("end")
        await services.close()
    }
}
