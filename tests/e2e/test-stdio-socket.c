/* 'glovebox stdio --socket': several clients, and the lifetime of the socket. */
#include <sys/stat.h>

#include "e2e/stdio.h"

static char folder[] = "/tmp/gb-socket-XXXXXX", path[100];

__attribute__((constructor)) static void set_up(void) {
	if (!mkdtemp(folder))
		exit(1);
	snprintf(path, sizeof path, "%s/glovebox.sock", folder);
}

__attribute__((destructor)) static void tear_down(void) {
	rmdir(folder);
}

static struct client serve(void) {
	return client_start((const char *const[]){"--socket", path, NULL});
}

static struct client join(void) {
	struct client client = client_connect(path);
	client_expect(&client, "hello", -1);
	return client;
}

static int stop(struct client *server) {
	kill(server->pid, SIGTERM);
	return client_end(server);
}

TEST(run_numbers_of_clients_are_independent) {
	struct client server = serve(), a = join(), b = join();
	for (int i = 1; i <= 20; i++) {
		client_say(&a, "{\"type\":\"run\",\"run\":%d,\"source\":\"export default 'a'\"}", i);
		client_say(&b, "{\"type\":\"run\",\"run\":%d,\"source\":\"export default 'b'\"}", i);
	}
	for (int i = 1; i <= 20; i++) {
		CHECK_STR(text_at(client_hear(&a), "result.result"), "a");
		CHECK_STR(text_at(client_hear(&b), "result.result"), "b");
	}
	client_say(&a, "{\"type\":\"terminate\",\"run\":21}");
	CHECK_STR(text_at(client_hear(&a), "code"), "unknown_run");
	client_shut(&a);
	client_shut(&b);
	CHECK_INT(stop(&server), 0);
}

TEST(a_disconnect_ends_only_the_runs_of_that_client) {
	struct client server = serve(), a = join(), b = join();
	client_say(&a, "{\"type\":\"run\",\"run\":1,\"source\":\"for(;;);\"}");
	client_say(&b, "{\"type\":\"run\",\"run\":1,\"source\":\"console.log(1);for(;;);\"}");
	client_expect(&b, "log", 1);
	client_shut(&a);
	client_say(&b, "{\"type\":\"run\",\"run\":2,\"source\":\"export default 2\"}");
	client_result(&b, 2, "success");
	client_say(&b, "{\"type\":\"terminate\",\"run\":1}");
	client_result(&b, 1, "terminated");
	struct client c = join();
	client_say(&c, "{\"type\":\"run\",\"run\":1,\"source\":\"export default 2\"}");
	client_result(&c, 1, "success");
	client_shut(&b);
	client_shut(&c);
	CHECK_INT(stop(&server), 0);
}

TEST(too_many_clients_are_rejected) {
	enum { MANY = 101 };
	struct client server = serve();
	static struct client clients[MANY];
	for (int i = 0; i < MANY; i++)
		clients[i] = client_connect(path);
	for (int i = 0; i < MANY - 1; i++)
		client_expect(&clients[i], "hello", -1);
	CHECK_STR(text_at(client_hear(&clients[MANY - 1]), "code"), "refused");
	CHECK(!client_line(&clients[MANY - 1]));
	for (int i = 0; i < MANY; i++)
		client_shut(&clients[i]);
	struct client late = client_connect(path);
	for (int i = 0; i < 100 && strcmp(text_at(client_hear(&late), "type"), "hello") != 0; i++) {
		client_shut(&late);
		usleep(10000);
		late = client_connect(path);
	}
	client_shut(&late);
	CHECK_INT(stop(&server), 0);
}

TEST(the_socket_is_private_and_removed_at_the_end) {
	struct client server = serve(), a = join();
	struct stat found;
	CHECK(stat(path, &found) == 0 && S_ISSOCK(found.st_mode));
	CHECK_INT(found.st_mode & 07777, 0600);
	client_shut(&a);
	CHECK_INT(stop(&server), 0);
	CHECK(stat(path, &found) != 0 && errno == ENOENT);
}

TEST(a_stale_socket_is_replaced) {
	struct client server = serve(), a = join();
	kill(server.pid, SIGKILL);
	client_shut(&a);
	CHECK_INT(client_end(&server), 1000 + SIGKILL);
	struct stat found;
	CHECK(stat(path, &found) == 0);
	server = serve();
	a = join();
	client_shut(&a);
	CHECK_INT(stop(&server), 0);
}

TEST(a_second_server_on_the_same_socket_is_rejected) {
	struct client server = serve(), a = join(), second = serve();
	CHECK_INT(client_end(&second), 3);
	client_say(&a, "{\"type\":\"run\",\"run\":1,\"source\":\"1\"}");
	client_result(&a, 1, "success");
	client_shut(&a);
	CHECK_INT(stop(&server), 0);
}

TEST(a_file_that_is_not_a_socket_is_not_replaced) {
	int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	CHECK(write(file, "x", 1) == 1);
	close(file);
	struct client server = serve();
	CHECK_INT(client_end(&server), 3);
	struct stat found;
	CHECK(stat(path, &found) == 0 && S_ISREG(found.st_mode) && found.st_size == 1);
	unlink(path);
}
