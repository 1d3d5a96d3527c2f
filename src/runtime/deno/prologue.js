// The beginning of the module that consists of all these files, in Deno.
import {Buffer} from 'node:buffer';
import {Console} from 'node:console';
import vm from 'node:vm';
import {inspect, types} from 'node:util';
