import CMalloc
import Glibc

/// The number of arenas that glibc's malloc divides its memory into.
enum MallocArenas {
    /// Two arenas; glibc's default is eight for each processor. Each arena keeps the memory that its threads have
    /// freed. In an attack the daemon used at most 89 MiB with two arenas and 152 MiB with sixteen, and served 50
    /// viewers with the same CPU time. `MALLOC_ARENA_MAX` in the environment takes precedence.
    static func limit() {
        guard getenv("MALLOC_ARENA_MAX") == nil else { return }
        mallopt(M_ARENA_MAX, 2)
    }
}
